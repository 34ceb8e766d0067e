import { Agent, type AgentOptions } from 'node:http';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client';
import type { ClickHouseAddress } from './address.ts';
import { layoutOf } from './layout.ts';
import { SamplesAway } from './samples.ts';

/** Longer than any statement of ours may run, so that the server's own limit speaks first. */
const requestTimeoutMs = 150_000;

export const connectionsMax = 16;

/** @param database null: the server's default one, for making the own one */
export function connect(address: ClickHouseAddress, database: string | null): ClickHouseClient {
  const { url, socketPath, username, password } = address;
  return createClient({
    url,
    username,
    password,
    ...(database === null ? {} : { database }),
    clickhouse_settings: layoutOf(address).settings,
    request_timeout: requestTimeoutMs,
    max_open_connections: connectionsMax,
    ...(socketPath === undefined ? {} : { http_agent: socketAgent(socketPath) }),
    application: 'weir',
    // Every failure reaches the caller, who logs it with what it was doing.
    log: { level: ClickHouseLogLevel.OFF },
  });
}

/** The agent hands its options on to each request; the types know only those of TCP. */
function socketAgent(socketPath: string): Agent {
  const options = { keepAlive: true, maxSockets: connectionsMax, socketPath };
  return new Agent(options as AgentOptions);
}

/** Exceptions of a server that cannot do its work now, whatever the statement says. */
const awayCodes = new Set([
  '159', // TIMEOUT_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '236', // ABORTED
  '241', // MEMORY_LIMIT_EXCEEDED
  '242', // TABLE_IS_READ_ONLY
  '243', // NOT_ENOUGH_SPACE
  '252', // TOO_MANY_PARTS
  '279', // ALL_CONNECTION_TRIES_FAILED
  '285', // TOO_FEW_LIVE_REPLICAS
  '286', // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  '319', // UNKNOWN_STATUS_OF_INSERT
  '341', // UNFINISHED: a replica is away that has rows to delete as well
  '369', // ALL_REPLICAS_ARE_STALE
  '999', // KEEPER_EXCEPTION
]);

/**
 * Runs a call to ClickHouse.
 *
 * @throws SamplesAway with the cause when the server was not reached, broke off or cannot work
 *   now; a statement that it judged and refused stays a ClickHouseError
 */
export async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof ClickHouseError && !awayCodes.has(cause.code)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SamplesAway(`ClickHouse is away: ${reason}`, { cause });
  }
}
