/**
 * Uploads in a process of its own, to be killed: `node upload-child.ts URL STAGE`. Up to `begun`,
 * `half` or `sent` it leaves one upload open and says so; at `commits` it commits object after
 * object, four at once, and names each when its commit has returned.
 */
import { openArtifacts } from '../../src/artifacts/open.ts';
import { bodyOf, newObject, put, writeAll } from './bodies.ts';
import { someMeta } from './some-meta.ts';

export const childBodyBytes = 512 * 1024;

if (process.argv[1]?.endsWith('upload-child.ts')) {
  const [url = '', stage = ''] = process.argv.slice(2);
  await upload(url, stage);
}

async function upload(url: string, stage: string): Promise<void> {
  const store = openArtifacts(url);
  // Keeps the process there until it is killed.
  setInterval(() => {}, 60_000);
  if (stage === 'commits') {
    await store.prepare();
    const line = async () => {
      for (;;) {
        const object = newObject();
        await put(store, bodyOf(object, childBodyBytes), object);
        process.stdout.write(`${object}\n`);
      }
    };
    await Promise.all([line(), line(), line(), line()]);
  }
  const object = newObject();
  const body = bodyOf(object, childBodyBytes);
  const open = store.begin(object, body.length, someMeta());
  if (stage === 'half') await writeAll(open, body.subarray(0, body.length / 2));
  if (stage === 'sent') await writeAll(open, body);
  process.stdout.write(`${object}\n`);
}
