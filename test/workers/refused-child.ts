import { createHash, randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { startParsePool } from '../../src/parse/pool.ts';
import { xlsxOf } from './make-xlsx.ts';
import { someInput } from './some-delivery.ts';

/**
 * Has large packed bodies parsed that are refused at their beginning, and prints why each was:
 * `node refused-child.ts DIRECTORY`. A process of its own, since what goes wrong here ends it.
 */
const [directory = ''] = process.argv.slice(2);
const artifactsUrl = pathToFileURL(directory).href;
const noise = randomBytes(8 * 1024 * 1024);
const bodies = [
  { format: 'csv', encoding: 'gzip', body: gzipSync(noise, { level: 1 }) },
  { format: 'csv', encoding: 'zstd', body: zstdCompressSync(noise) },
  { format: 'xlsx', encoding: 'identity', body: xlsxOf({ sheet: noise }) },
] as const;

const artifacts = openArtifacts(artifactsUrl);
await artifacts.prepare();
const pool = startParsePool({ artifactsUrl });
const codes: (string | undefined)[] = [];
for (const { format, encoding, body } of bodies) {
  const object = `2024/05/01/0199aaaa-0000-7000-8000-${String(codes.length).padStart(12, '0')}`;
  const { artifactId, sourceId } = someInput();
  const upload = artifacts.begin(object, body.length, {
    ...{ artifactId, sourceId, sandbox: false, idempotencyKey: object, shapeVersion: 1 },
    ...{ delivery: 'document', mediaType: 'application/octet-stream', encoding },
    receivedAt: 1_714_560_000_000,
  });
  await upload.write(body);
  const sha256 = createHash('sha256').update(body).digest();
  await upload.commit(sha256);
  const place = { object, offset: 0, length: body.length };
  const input = someInput({ place, sha256: sha256.toString('hex'), format, encoding });
  for (let i = 0; i < 2; i++) {
    const { outcomes } = await pool.run({ deliveries: [input] });
    codes.push(outcomes[0]?.kind === 'done' ? outcomes[0].refusal?.code : outcomes[0]?.kind);
  }
}
await pool.close();
await artifacts.close();
console.log(JSON.stringify(codes));
