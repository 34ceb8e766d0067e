import type { ClickHouseClient } from '@clickhouse/client';
import type { Rejection } from '../domain/nouns.ts';
import { rejectionColumns } from '../domain/rejection-row.ts';
import { sampleColumns } from '../domain/sample-row.ts';
import { giveBack } from '../std/give-back.ts';
import type { ClickHouseAddress } from './address.ts';
import { ByteReads } from './byte-reads.ts';
import { connect, connectionsMax, reach } from './client.ts';
import { forgetStatements } from './forget.ts';
import { durably, insertRows, type Place } from './insert-rows.ts';
import { layoutOf } from './layout.ts';
import type {
  EncodedRows,
  Forgetting,
  GenerationQuery,
  RejectionsQuery,
  SampleStore,
  Settlement,
  WindowAnswer,
  WindowQuery,
} from './samples.ts';
import { prepareDatabase, prepareTables } from './schema.ts';
import { settleStatement } from './settle.ts';
import { joinRows, windowStatement } from './window.ts';

/** How long somebody waits who wants an answer now; a server that hangs counts as away then. */
export interface SampleWaits {
  readonly pingMs: number;
  /** Longer than such a statement may run. */
  readonly readMs: number;
}

const usualWaits: SampleWaits = { pingMs: 2_000, readMs: 35_000 };

/** The samples in ClickHouse: a server, or the embedded engine, which answers the same way. */
export function openSamples(address: ClickHouseAddress, waits = usualWaits): SampleStore {
  return new ClickHouseSamples(address, waits);
}

class ClickHouseSamples implements SampleStore {
  readonly #address: ClickHouseAddress;
  readonly #waits: SampleWaits;
  readonly #client: ClickHouseClient;
  readonly #place: Place;
  readonly #reads: ByteReads;

  constructor(address: ClickHouseAddress, waits: SampleWaits) {
    this.#address = address;
    this.#waits = waits;
    this.#client = connect(address, address.database);
    this.#place = { client: this.#client, at: layoutOf(address) };
    this.#reads = new ByteReads(address, { connectionsMax, requestMs: waits.readMs });
  }

  async prepare(): Promise<void> {
    const outside = connect(this.#address, null);
    try {
      await prepareDatabase({ ...this.#place, client: outside }, this.#address.database);
    } finally {
      await outside.close();
    }
    await prepareTables(this.#place);
  }

  async insert({ samples, reparsed = [], rejections }: EncodedRows): Promise<void> {
    await insertRows(this.#place, 'sample_inbox', sampleColumns, samples);
    await insertRows(this.#place, 'version_inbox', sampleColumns, reparsed);
    await insertRows(this.#place, 'rejection_inbox', rejectionColumns, rejections);
  }

  async settle(settlement: Settlement): Promise<void> {
    const { sourceId, deliveries } = settlement;
    const durable = await durably(this.#place);
    const standing = deliveries.filter(({ generation }) => generation > 0);
    if (standing.length > 0) {
      await reach(() =>
        this.#client.insert({
          table: this.#place.at.named('delivery_generations'),
          columns: ['source_id', 'sequence', 'generation'],
          values: standing.map(({ sequence, generation }) => [sourceId, sequence, generation]),
          format: 'JSONCompactEachRow',
          clickhouse_settings: durable,
        }),
      );
    }
    await reach(() =>
      this.#client.command({
        ...settleStatement(settlement),
        clickhouse_settings: durable,
      }),
    );
  }

  async forget(forgetting: Forgetting): Promise<void> {
    for (const statement of forgetStatements(this.#place.at, forgetting)) {
      await reach(() => this.#client.command(statement));
    }
  }

  async window(query: WindowQuery): Promise<WindowAnswer> {
    const chunks = await reach(() => this.#reads.read(windowStatement(query)));
    const answer = joinRows(chunks, query.limit, query.around);
    for (const chunk of chunks) giveBack(chunk);
    return answer;
  }

  async *generation(query: GenerationQuery): AsyncIterable<Buffer> {
    const { sourceId, sequence, generation } = query;
    const answer = await reach(() =>
      this.#client.exec({
        query: `
          SELECT record, newest_first, metric, labels_json, value
          FROM sample_versions FINAL
          WHERE source_id = {source:UUID} AND sequence = {sequence:UInt64}
            AND generation = {generation:UInt32}
          SETTINGS max_execution_time = 140
          FORMAT TSVRaw`,
        query_params: { source: sourceId, sequence, generation },
        clickhouse_settings: { wait_end_of_query: 1 },
      }),
    );
    yield* answer.stream as AsyncIterable<Buffer>;
  }

  async rejections(query: RejectionsQuery): Promise<Rejection[]> {
    const { artifactId, generation, limit, offset = 0 } = query;
    return await reach(async () => {
      const answer = await this.#client.query({
        query: `
          SELECT record, line, field, code, message
          FROM rejections FINAL
          WHERE artifact_id = {artifact:UUID} AND generation = {generation:UInt32}
          ORDER BY record, ordinal
          LIMIT {limit:UInt32} OFFSET {offset:UInt64}
          SETTINGS max_execution_time = 30`,
        query_params: { artifact: artifactId, generation, limit, offset },
        abort_signal: AbortSignal.timeout(this.#waits.readMs),
        format: 'JSONEachRow',
      });
      return await answer.json<Rejection>();
    });
  }

  async ping(): Promise<void> {
    await reach(async () => {
      const abort_signal = AbortSignal.timeout(this.#waits.pingMs);
      const answer = await this.#client.ping({ select: true, abort_signal });
      if (!answer.success) throw answer.error;
    });
  }

  async close(): Promise<void> {
    this.#reads.close();
    await this.#client.close();
  }
}
