import type { ClickHouseClient } from '@clickhouse/client';
import type { ClickHouseAddress } from '../../src/samples/address.ts';
import { connect } from '../../src/samples/client.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import type { Address } from '../load/messages.ts';
import type { BenchWeir } from './weir.ts';

/** The ClickHouse that a weir's own embedded engine is, asked without weir. */
export class BenchEngine {
  readonly #address: ClickHouseAddress;
  readonly client: ClickHouseClient;

  constructor(weir: BenchWeir) {
    this.#address = openEngineAddress(weir.dataDir);
    this.client = connect(this.#address, this.#address.database);
  }

  /** Where it listens. */
  get at(): Address {
    const { socketPath, url } = this.#address;
    return socketPath === undefined ? { port: Number(new URL(url).port) } : { socketPath };
  }

  async command(query: string): Promise<void> {
    await this.client.command({ query, clickhouse_settings: { wait_end_of_query: 1 } });
  }

  async rows<T>(query: string): Promise<T[]> {
    return await (await this.client.query({ query, format: 'JSONEachRow' })).json<T>();
  }

  /** A statement as a raw HTTP request, as the client of weir says it. */
  request(query: string, params: Readonly<Record<string, string | number | boolean>>): string {
    const values = Object.entries(params).map(([name, value]): [string, string] => [
      `param_${name}`,
      String(value),
    ]);
    return `${this.#head(values, Buffer.byteLength(query))}${query}`;
  }

  /** The head of an insert whose rows follow. */
  insertHead(query: string, bytes: number): string {
    return this.#head([['query', query]], bytes);
  }

  /** Waits until no merge is under way that an insert before may have begun. */
  async untilMerged(): Promise<void> {
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
      const [found] = await this.rows<{ n: string }>('SELECT count() AS n FROM system.merges');
      if (Number(found!.n) === 0) return;
    }
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  #head(values: [string, string][], length: number): string {
    const { database, username, password } = this.#address;
    const query = new URLSearchParams([['database', database], ...values]);
    const credentials = Buffer.from(`${username}:${password}`).toString('base64');
    return [
      `POST /?${query} HTTP/1.1\r\n`,
      'host: engine\r\n',
      `authorization: Basic ${credentials}\r\n`,
      `content-length: ${length}\r\n\r\n`,
    ].join('');
  }
}
