import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Client } from 'minio';
import { unreadableBytes } from './evidence.ts';
import { sha256Of } from './post.ts';
import type { World } from './world.ts';

/** The object store as anybody sees it who may look into it. */
export interface StoreSeen {
  /** Names of the objects that hold bodies. */
  names(): Promise<string[]>;
  /** @throws when there is none of that name */
  bytes(object: string): Promise<Buffer>;
}

/** A day, an id, and for several bodies in one object `.segment`. */
const bodyName = /^\d{4}\/\d{2}\/\d{2}\/[0-9a-f-]{36}(\.segment)?$/;

export function openStoreSeen({ dataDir, artifactsUrl }: World): StoreSeen {
  if (artifactsUrl === null) return filesSeen(join(dataDir, 'artifacts'));
  const url = new URL(artifactsUrl.replace('s3+', ''));
  const bucket = url.pathname.slice(1);
  const client = new Client({
    ...{ endPoint: url.hostname, port: Number(url.port), useSSL: false },
    ...{ accessKey: url.username, secretKey: url.password },
  });
  return {
    async names() {
      const found: string[] = [];
      for await (const { name } of client.listObjectsV2(bucket, '', true)) found.push(name ?? '');
      return found.filter((name) => bodyName.test(name));
    },
    bytes: async (object) => buffer(await client.getObject(bucket, object)),
  };
}

function filesSeen(root: string): StoreSeen {
  return {
    async names() {
      const all = await readdir(root, { recursive: true });
      return all.filter((name) => bodyName.test(name));
    },
    bytes: (object) => readFile(join(root, object)),
  };
}

interface Place {
  readonly artifactId: string;
  readonly object: string;
  readonly offset: number;
  readonly length: number;
}

/** @returns the hash of each artifact's bytes, as they are read now */
export async function storedHashes(
  store: StoreSeen,
  places: readonly Place[],
): Promise<Map<string, string>> {
  const byObject = Map.groupBy(places, (place) => place.object);
  const hashes = new Map<string, string>();
  await eachOf([...byObject], async ([object, inside]) => {
    const bytes = await store.bytes(object).catch(() => null);
    for (const { artifactId, offset, length } of inside) {
      const isWhole = bytes !== null && offset + length <= bytes.length;
      const own = isWhole ? sha256Of(bytes.subarray(offset, offset + length)) : unreadableBytes;
      hashes.set(artifactId, own);
    }
  });
  return hashes;
}

export async function orphansOf(
  store: StoreSeen,
  referenced: ReadonlySet<string>,
): Promise<{ object: string; bodies: string[] }[]> {
  const orphans: { object: string; bodies: string[] }[] = [];
  const unknown = (await store.names()).filter((object) => !referenced.has(object));
  await eachOf(unknown, async (object) => {
    const bytes = await store.bytes(object);
    const bodies = object.endsWith('.segment') ? bodiesIn(bytes) : [bytes];
    orphans.push({ object, bodies: bodies.map(sha256Of) });
  });
  return orphans;
}

/** A segment ends with its index, JSON lines, and a footer that says how long that is. */
const footer = { bytes: 56, indexBytesAt: 44 };

function bodiesIn(segment: Buffer): Buffer[] {
  const end = segment.length - footer.bytes;
  const begin = end - segment.readUInt32BE(end + footer.indexBytesAt);
  const lines = segment.subarray(begin, end).toString().split('\n').slice(0, -1);
  return lines.map((line) => {
    const { offset, length } = JSON.parse(line) as { offset: number; length: number };
    return segment.subarray(offset, offset + length);
  });
}

/** A few at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const workers = Array.from({ length: 4 }, async () => {
    for (const item of rest) await work(item);
  });
  await Promise.all(workers);
}
