import { createClient } from '@redis/client';
import { type RateRule, type RateVerdict, verdictOf } from '../domain/rates.ts';
import { assert } from '../std/assert.ts';
import type { Clock } from '../std/clock.ts';
import { untilDone } from '../std/retry.ts';
import { isRedisUrl, redisUrlForm } from './address.ts';
import { memoryRates } from './memory.ts';
import type { Rates, ServiceRates } from './rates.ts';
import { takeScript } from './take-script.ts';

export interface RatesLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RedisRatesOptions {
  /** `redis[s]://[[user]:password@]host[:port][/database]` */
  readonly url: string;
  /** Of the process, and never set. */
  readonly clock: Clock;
  readonly log: RatesLog;
  /** For tests; as below by default. */
  readonly waits?: Partial<typeof waits>;
}

/** In milliseconds. */
const waits = {
  /**
   * For the answer to a take, which a request waits for. It takes well under a millisecond; a
   * machine with far more to do than it can was seen to take 245, and that is no outage.
   */
  take: 300,
  /** A connection on which so long nothing came is given up, and another made. */
  silent: 3_000,
  /** Between two pings; they are the only traffic while no request comes. */
  ping: 1_000,
  /** Between two tries to come back. */
  retry: 250,
};

/**
 * Rates shared by all processes that use one Redis server.
 *
 * States. *Shared*: each take is one script on the server. *Local*: each take is counted in the
 * memory of this process, under the same rule, and waits for nothing. A take that fails for any
 * cause (no connection, no answer in time, an error) is answered from memory and makes the state
 * local; a trial take that is answered in time makes it shared again. One line is logged for each
 * change. So no request fails since Redis is away, none is unlimited, and what is admitted then is
 * at most the rule for each process. The buckets in memory outlive an outage: who comes often in
 * many short ones is not given a full bucket in each.
 *
 * What is lost. A server that restarts without its data, or a replica that had not heard of the
 * last takes, has fuller buckets. Under `maxmemory` an eviction policy would throw buckets away,
 * which fills them: `noeviction` is right, and a full server is an outage as above. The client
 * speaks to one server: a node of a Redis Cluster points elsewhere for most buckets, which is an
 * outage without end. It is told once, since the trial is made where the take failed: braces have
 * a bucket and its trial in one slot.
 *
 * Resolves when Redis answered or could not be reached; who starts need not wait for it longer.
 *
 * @throws Error one line, without the password, when the URL has another form
 */
export async function redisRates(options: RedisRatesOptions): Promise<ServiceRates> {
  const rates = new RedisRates(options);
  await rates.open();
  return rates;
}

class RedisRates implements ServiceRates {
  readonly #client: Client;
  readonly #waits: typeof waits;
  readonly #clock: Clock;
  readonly #log: RatesLog;
  readonly #memory: Rates;
  readonly #closing = new AbortController();
  #local = false;
  /** The bucket of the take that made the state local; empty when a connection was lost. */
  #failed = '';

  constructor({ url, clock, log, waits: given }: RedisRatesOptions) {
    this.#waits = { ...waits, ...given };
    this.#client = newClient(url, this.#waits);
    this.#clock = clock;
    this.#log = log;
    this.#memory = memoryRates(clock);
  }

  async open(): Promise<void> {
    const client = this.#client;
    await new Promise<void>((resolve) => {
      client.on('ready', resolve);
      // Without a listener an error would end the process.
      client.on('error', (error) => {
        this.#goLocal(error);
        resolve();
      });
      // It goes on trying until it is closed, and told each failure above.
      client.connect().catch((error) => this.#goLocal(error));
    });
  }

  async take(name: string, rule: RateRule): Promise<RateVerdict> {
    assert(rule.perMinute >= 1 && rule.burst >= 1, 'a rate admits something');
    if (this.#local) return this.#memory.take(name, rule);
    try {
      const { admitted, level } = await inTime(this.#send(`{${name}}`, rule), this.#waits.take);
      return verdictOf(admitted, level, rule);
    } catch (error) {
      this.#goLocal(error, name);
      return this.#memory.take(name, rule);
    }
  }

  isLocal(): boolean {
    return this.#local;
  }

  /** Waits for no answer: Redis may hang. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#client.destroy();
  }

  #send(bucket: string, rule: RateRule): Promise<{ admitted: boolean; level: number }> {
    return this.#client.takeToken(`weir:rate:${bucket}`, rule);
  }

  #goLocal(err: unknown, failed = ''): void {
    if (this.#local || this.#closing.signal.aborted) return;
    this.#local = true;
    this.#failed = failed;
    this.#log.warn({ err }, 'rates are counted by this process alone: Redis is away');
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    const { signal } = this.#closing;
    const { retry } = this.#waits;
    const told = (err: unknown) => this.#log.debug({ err }, 'Redis is still away');
    try {
      await untilDone(() => this.#try(), { waitMs: retry, waitMaxMs: retry, signal, told });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#local = false;
    this.#log.info({}, 'rates are shared again: Redis is back');
  }

  /**
   * A take like any other, so that it fails wherever those would. Its answer is waited for however
   * late: the connection then carries one of them at most, and once it is silent it is given up.
   */
  async #try(): Promise<void> {
    const began = this.#clock();
    await this.#send(`{${this.#failed}}:trial`, { perMinute: 60, burst: 1 });
    if (this.#clock() - began > this.#waits.take) throw new Error('Redis answered too late');
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(url: string, { silent, ping }: typeof waits) {
  // The client's own error would hold the URL, and with it the password.
  if (!isRedisUrl(url)) throw new Error(`the URL of Redis must look like ${redisUrlForm}`);
  return createClient({
    ...{ url, name: 'weir', scripts: { takeToken: takeScript } },
    // A take that cannot be sent now is counted in memory; sent later, it would count twice.
    disableOfflineQueue: true,
    // Takes have a bound of their own; the client's ends when a command has been sent.
    commandOptions: { timeout: 0 },
    maintNotifications: 'disabled',
    pingInterval: ping,
    socket: {
      connectTimeout: silent,
      socketTimeout: silent,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1_000),
    },
  });
}

/**
 * Fails when there is no answer in time. It waits in two halves: after this process itself stood
 * still, the first one ends at once, and what has arrived is read before the second one ends.
 */
function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`Redis did not answer within ${ms} ms`));
    let timer = setTimeout(() => {
      timer = setTimeout(late, ms / 2);
    }, ms / 2);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
