import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import Database from 'better-sqlite3';
import type { ArtifactPlace } from '../../src/domain/nouns.ts';
import { connect } from '../../src/samples/client.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import { accepted } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { sendWebhook } from '../support/webhook.ts';
import { type Ran, weirCommand } from '../support/weir-command.ts';

/** What `weir rebuild` and `weir verify` answer. */
export interface ProofAnswer {
  readonly swapped?: boolean;
  readonly deliveries: number;
  readonly bytes: number;
  readonly records: number;
  readonly samples: number;
  readonly rejections: number;
  readonly differences: readonly {
    readonly artifact_id?: string;
    readonly source_id: string;
    readonly what: string;
  }[];
}

export const visitsFields = [
  { name: 'day', role: 'period' },
  { name: 'where', role: 'label', label: 'place' },
  { name: 'on', role: 'label', label: 'device' },
  { name: 'visits', role: 'value', metric: 'visits' },
  { name: 'amount', role: 'value', metric: 'amount' },
  { name: 'note', required: false },
] as const;

/** A weir in which there is some of everything that a rebuild must give back. */
export interface ProofPlace {
  readonly weir: TestWeir;
  readonly push: TestSource;
  readonly document: TestSource;
  readonly webhook: TestSource;
  /** Artifact ids by what is special about them. */
  readonly artifacts: {
    readonly first: string;
    readonly correction: string;
    readonly document: string;
    readonly partly: string;
    readonly reparsed: string;
  };
  /** Every window of every source, as the API gives it. */
  reads(): Promise<string>;
  run(...args: readonly string[]): Promise<Ran>;
  /** Runs a command that prints JSON, whatever its exit code is. */
  proof(...args: readonly string[]): Promise<ProofAnswer & { readonly code: number }>;
  /** Changes the sample store; reads show it. */
  sql(statement: string): Promise<void>;
  tables(): Promise<string[]>;
  /** As time does with the turn of a process that was killed. */
  turnsRunOut(): void;
  /** Changes the catalog behind its back. */
  catalogSql(statement: string): void;
  /** The file with an artifact's bytes, which it may share. */
  fileOf(artifactId: string): Promise<string>;
  /** Turns a digit of a stored body into another one. */
  changeByte(artifactId: string): Promise<void>;
  stop(): Promise<void>;
}

const years = ['1999', '2024', '2025', '2026'];

export function documentBody(from: number, rows: number, note = ''): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    const day = new Date(Date.UTC(2025, 0, 1 + ((from + i) % 400))).toISOString().slice(0, 10);
    return `${day},"B, ${i % 3}",phone,${from + i},${i}.50${note}`;
  });
  return `day,where,on,visits,amount\n${lines.join('\n')}\n`;
}

export async function makeProofPlace(): Promise<ProofPlace> {
  const weir = await TestWeir.start();
  const push = await weir.source();
  const document = await weir.source({ delivery: 'document', fields: visitsFields });
  const webhook = await weir.source({ delivery: 'webhook' });
  const all = [push, document, webhook];

  const send = async (source: TestSource, answer: ReturnType<TestSource['sender']['push']>) => {
    const receipt = await answer;
    await source.sender.settled(receipt);
    return accepted(receipt).artifact_id;
  };
  const first = await send(push, push.sender.push({ day: '2026-01-01', amount: '10.50' }));
  const correction = await send(push, push.sender.push({ day: '2026-01-01', amount: '11.00' }));
  await send(push, push.sender.push({ day: '1999-12-31', amount: '-0' }));
  await send(push, push.sender.push({ day: '2026-02-30', amount: '1' }));
  const sandbox = await push.withKey({ sandbox: true });
  await send(push, sandbox.push({ day: '2026-01-01', amount: '99' }));
  const doc = await send(document, document.sender.document(documentBody(0, 500)));
  await send(document, document.sender.document(documentBody(200, 300)));
  const bad = `${documentBody(1_000, 20)}2025-01-01,a,b,not a number,1\n2025-13-01,a,b,x,1\n`;
  const partly = await send(document, document.sender.document(bad));
  await send(document, document.sender.document('day,where\n2025-01-01,x\n'));
  await send(webhook, sendWebhook(webhook, { body: '[{"day":"2026-03-01","amount":7.10}]' }));
  const again = '[{"day":"2026-03-02","amount":"8"},{"day":"2026-03-02","amount":"9"}]';
  await send(webhook, sendWebhook(webhook, { body: again }));

  const env = weir.running.env();
  const run = (...args: readonly string[]) => weirCommand(env, ...args);
  // Without its amounts, those that the document before had superseded come back.
  const reparsed = await send(document, document.sender.document(documentBody(0, 50)));
  await document.save({ fields: visitsFields.filter(({ name }) => name !== 'amount') });
  const again2 = await run('reparse', reparsed, '--shape-version', '2', '--json');
  if (again2.code !== 0) throw new Error(again2.stderr);

  const change = (statement: string) => {
    const database = new Database(join(weir.running.place.dataDir, 'catalog.db'));
    database.prepare(statement).run();
    database.close();
  };
  const pathOf = ({ object }: ArtifactPlace) =>
    join(weir.running.place.dataDir, 'artifacts', object);
  let client: ClickHouseClient | null = null;
  const clickhouse = () => {
    const address = openEngineAddress(weir.running.place.dataDir);
    client ??= connect(address, address.database);
    return client;
  };
  return {
    ...{ weir, push, document, webhook, run },
    artifacts: { first, correction, document: doc, partly, reparsed },
    async reads() {
      const found: string[] = [];
      for (const source of all) {
        for (const year of years) {
          const window = `from=${Number(year) - 1}-12-31&to=${year}-12-31`;
          const answer = await source.sender.get(`/v1/samples?${window}`);
          found.push(`${answer.status} ${answer.text}`);
        }
        for (const artifactId of await source.deliveries()) {
          const answer = await source.sender.get(`/v1/deliveries/${artifactId}`);
          found.push(answer.text);
        }
      }
      return found.join('\n');
    },
    async proof(...args) {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (stdout === '') throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return { ...(JSON.parse(stdout) as ProofAnswer), code };
    },
    async sql(statement) {
      await clickhouse().command({ query: statement });
      // Nobody is told of it: reads would go on showing what they showed before.
      change(`insert into samples_versions values (0, 1)
        on conflict (source_id) do update set version = version + 1`);
    },
    async tables() {
      const query = 'SELECT name FROM system.tables WHERE database = currentDatabase()';
      const answer = await clickhouse().query({ query, format: 'JSONEachRow' });
      return (await answer.json<{ name: string }>()).map(({ name }) => name).sort();
    },
    turnsRunOut: () => change('DELETE FROM settle_turns'),
    catalogSql: change,
    fileOf: async (artifactId) => pathOf(await placeOf(weir, artifactId)),
    async changeByte(artifactId) {
      const at = await placeOf(weir, artifactId);
      await changeByteIn(pathOf(at), at);
    },
    async stop() {
      await client?.close();
      await weir.stop();
    },
  };
}

async function placeOf(weir: TestWeir, artifactId: string): Promise<ArtifactPlace> {
  const delivery = await weir.catalog.deliveries.byArtifact(artifactId);
  if (!delivery) throw new Error(`there is no delivery ${artifactId}`);
  return delivery.place;
}

async function changeByteIn(path: string, { offset, length }: ArtifactPlace): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.subarray(offset, offset + length).lastIndexOf('1');
  if (at < 0) throw new Error('the body has no digit 1');
  bytes[offset + at] = '2'.charCodeAt(0);
  await chmod(path, 0o644);
  await writeFile(path, bytes);
}
