import { describe, expect, test, vi } from 'vitest';
import { leftBy, type MetricsSnapshot, textOf } from '../../src/metrics/together.ts';
import { healthTogether } from '../../src/serve/ops.ts';
import { holdAddress } from '../../src/start/processes/hold-address.ts';
import { pulse } from '../../src/start/processes/pulse.ts';
import { Questions } from '../../src/start/processes/questions.ts';
import { supervisedRates } from '../../src/start/processes/supervised-rates.ts';
import { freePort } from '../support/server-process.ts';

describe('metrics of several processes', () => {
  const metric = (name: string, type: string, value: number) => ({
    ...{ name, type, help: 'h', aggregator: 'sum' },
    values: [{ value, labels: {} }],
  });

  test('are sums, but where a sum would say something else', async () => {
    const names = ['weir_held_bytes', 'weir_accepting', 'weir_rates_local'];
    const of = (values: number[]) => names.map((name, i) => metric(name, 'gauge', values[i]!));
    const { body } = await textOf([of([5, 1, 0]), of([7, 0, 1])]);
    expect(body).toContain('\nweir_held_bytes 12\n');
    expect(body).toContain('\nweir_accepting 0\n');
    expect(body).toContain('\nweir_rates_local 1\n');
  });

  test('leave out what is no number', async () => {
    const { body } = await textOf([
      [metric('nodejs_eventloop_lag_mean_seconds', 'gauge', Number.NaN)],
      [metric('nodejs_eventloop_lag_mean_seconds', 'gauge', 0.5)],
    ]);
    expect(body).toContain('\nnodejs_eventloop_lag_mean_seconds 0.5\n');
  });

  test('what an ended process counted stays, what it held does not', async () => {
    const last = [metric('weir_a_total', 'counter', 3), metric('weir_held_bytes', 'gauge', 9)];
    const left = await leftBy(await leftBy([], last), last);
    const now: MetricsSnapshot = [
      ...[metric('weir_a_total', 'counter', 1), metric('weir_held_bytes', 'gauge', 2)],
    ];
    const { body } = await textOf([now, left]);
    expect(body).toContain('\nweir_a_total 7\n');
    expect(body).toContain('\nweir_held_bytes 2\n');
  });
});

test('health of several processes is that of the worst', () => {
  const well = { ready: true, degraded: false, status: 'ready', parts: { a: 'ok', b: 'ok' } };
  const worse = { ready: true, degraded: true, status: 'degraded', parts: { a: 'ok', b: 'away' } };
  const [fine, poor] = [well, worse] as Parameters<typeof healthTogether>[0][string][];
  expect(healthTogether({ 1: fine!, 2: fine! })).toEqual(well);
  expect(healthTogether({ 1: fine!, 2: poor! })).toEqual(worse);
  expect(healthTogether({ 1: fine!, 'process 2': null })).toEqual({
    ...{ ready: false, degraded: true, status: 'away' },
    parts: { a: 'ok', b: 'ok', 'process 2': 'away' },
  });
});

describe('rates that a supervisor counts', () => {
  const rule = { perMinute: 60, burst: 20 };
  const verdict = {
    admitted: true,
    limit: 60,
    remaining: 1,
    resetSeconds: 1,
    retryAfterSeconds: 0,
  };

  test('what comes while it answers is asked together, and answered in order', async () => {
    const asked: string[][] = [];
    const rates = supervisedRates(async (takes) => {
      asked.push(takes.map(({ bucket }) => bucket));
      await new Promise((resolve) => setImmediate(resolve));
      return takes.map(({ bucket }) => ({ ...verdict, remaining: Number(bucket) }));
    });
    const verdicts = await Promise.all(['1', '2', '3'].map((name) => rates.take(name, rule)));
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([1, 2, 3]);
    expect(asked).toEqual([['1', '2', '3']]);
  });

  test('one that does not answer in time refuses with 503, and goes on when it does', async () => {
    const questions = new Questions<(typeof verdict)[]>(50);
    let [answers, last] = [false, 0];
    const rates = supervisedRates(() =>
      questions.ask((id) => {
        last = id;
        if (answers) setImmediate(() => questions.answered(id, [verdict]));
      }),
    );
    await expect(rates.take('a', rule)).rejects.toMatchObject({ status: 503 });
    questions.answered(last, [verdict]); // Too late, and for nobody.
    answers = true;
    expect(await rates.take('a', rule)).toEqual(verdict);
  });
});

test('a pulse beats at once, then at most once in its time, and loses no last call', () => {
  vi.useFakeTimers();
  try {
    let beats = 0;
    const beat = pulse(() => beats++, 20);
    beat();
    expect(beats).toBe(1);
    for (let n = 0; n < 5; n++) beat();
    expect(beats).toBe(1);
    vi.advanceTimersByTime(20);
    expect(beats).toBe(2);
    vi.advanceTimersByTime(100);
    expect(beats).toBe(2);
    beat();
    expect(beats).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});

test('an address is held once, until it is let go', async () => {
  const address = { host: '127.0.0.1', port: await freePort() };
  const letGo = await holdAddress(address);
  await expect(holdAddress(address)).rejects.toThrow(/^the address \S+ cannot be listened on$/);
  await letGo();
  await (await holdAddress(address))();
});
