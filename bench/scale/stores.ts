import { createHash, randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { objectName, segmentName } from '../../src/artifacts/object-name.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { canonicalLabels } from '../../src/domain/labels.ts';
import { sampleRowEncoder } from '../../src/domain/sample-row.ts';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { median } from '../statistics.ts';
import { countCpu } from './cpu.ts';
import { fitLine, type Line } from './fit.ts';
import type { Stores } from './world.ts';

/** What one write to a store takes, by its bytes or rows. */
export interface WriteMeasured {
  readonly ms: Line;
  /** Microseconds of the store's processor time. */
  readonly cpuUs: Line;
  readonly points: readonly { units: number; ms: number; cpuUs: number }[];
}

/** Objects into MinIO as segments are stored, one after the other, by their bytes. */
export async function measurePuts(stores: Stores, ms: number): Promise<WriteMeasured> {
  const artifacts = openArtifacts(stores.minio.url('scale-puts'));
  await artifacts.prepare();
  try {
    const put = async (bytes: number) => {
      const body = randomBytes(bytes);
      const hash = createHash('sha256').update(body).digest();
      const now = Date.now();
      const started = performance.now();
      const upload = artifacts.begin(segmentName(objectName(v7(), now)), bytes, null);
      await upload.write(body);
      await upload.commit(hash);
      return performance.now() - started;
    };
    return await measured(stores, 'minio', [2_048, 65_536, 1_048_576], put, ms);
  } finally {
    await artifacts.close();
  }
}

/** Rows into the engine as the service inserts them, one insert after the other. */
export async function measureInserts(stores: Stores, ms: number): Promise<WriteMeasured> {
  const samples = openSamples(stores.engine);
  await samples.prepare();
  let sequence = 1_000_000_000;
  try {
    const insert = async (rows: number) => {
      const block = encodedRows(rows, sequence++);
      const started = performance.now();
      await samples.insert({ samples: [block], rejections: [] });
      return performance.now() - started;
    };
    return await measured(stores, 'engine', [100, 2_000, 50_000], insert, ms);
  } finally {
    await samples.close();
  }
}

function encodedRows(count: number, sequence: number): Buffer {
  const row = sampleRowEncoder({
    ...{ sourceId: '01900000-0000-7000-8000-000000000002', artifactId: v7() },
    ...{ sandbox: false, sequence, generation: 0 },
  });
  const lines = Array.from({ length: count }, (_, i) => {
    const place = `place-${String(i % 1_000).padStart(4, '0')}`;
    const labels = canonicalLabels({ device: `device-${i % 16}`, place });
    return row(20_000 + (i % 731), 'visits', labels, `${i}.25`, i + 1);
  });
  return Buffer.from(lines.join(''));
}

async function measured(
  stores: Stores,
  part: 'minio' | 'engine',
  sizes: readonly number[],
  write: (units: number) => Promise<number>,
  ms: number,
): Promise<WriteMeasured> {
  const points = [];
  for (const units of sizes) {
    await write(units);
    const spent = countCpu({ store: stores.parts[part] });
    const times: number[] = [];
    for (const end = performance.now() + ms; times.length < 5 || performance.now() < end; ) {
      times.push(await write(units));
    }
    points.push({ units, ms: median(times), cpuUs: spent().store / times.length });
  }
  return {
    ms: fitLine(points.map(({ units, ms: cost }) => ({ units, cost }))),
    cpuUs: fitLine(points.map(({ units, cpuUs }) => ({ units, cost: cpuUs }))),
    points,
  };
}
