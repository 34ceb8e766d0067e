import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import type { FromProcess, ToProcess } from '../../src/start/processes/messages.ts';
import { type FaultPlace, makePlace } from '../faults/place.ts';
import { dayText, pushOf, sendOnce } from '../faults/sender.ts';

const main = fileURLToPath(new URL('../../src/start/processes/process.ts', import.meta.url));

/** One process of a service, with this test in its supervisor's place. */
describe('a process', { timeout: 30_000 }, () => {
  const told: FromProcess[] = [];
  let place: FaultPlace;
  let weir: RunningWeir;
  let child: ChildProcess;
  /** Whether the supervisor answers. */
  let answers = true;

  beforeAll(async () => {
    place = await makePlace();
    weir = place.weir({ WEIR_LOG_LEVEL: 'silent' });
    child = fork(main, { env: weir.env(), execArgv: [] });
    child.on('message', (message: FromProcess) => {
      told.push(message);
      if (message.kind !== 'take' || !answers) return;
      const verdicts = message.takes.map(({ rule }) => ({
        ...{ admitted: true, limit: rule.perMinute, remaining: 7 },
        ...{ resetSeconds: 3, retryAfterSeconds: 0 },
      }));
      send({ kind: 'taken', id: message.id, verdicts });
    });
    const one = { isFirst: false, parseThreads: 1, engine: null };
    send({ kind: 'begin', roles: ['accept'], ...one });
    await vi.waitFor(() => expect(told).toContainEqual({ kind: 'ready' }), { timeout: 25_000 });
  }, 30_000);

  afterAll(async () => {
    child?.kill('SIGKILL');
    await place?.remove();
  });

  function send(message: ToProcess): void {
    child.send(message);
  }

  test('asks its supervisor for rates, and tells it what waits to be parsed', async () => {
    const answer = await sendOnce(place, weir.url, pushOf('one', dayText(1), '1'));
    expect(answer?.status).toBe(202);
    expect(answer?.headers.get('RateLimit-Remaining')).toBe('7');
    await vi.waitFor(() => expect(told).toContainEqual({ kind: 'stored' }));
  });

  test('tells its health and its metrics', async () => {
    send({ kind: 'tell', id: 1, what: 'health' });
    const parts = { catalog: 'ok', artifacts: 'ok', accepting: 'ok' };
    const answer = expect.objectContaining({ ready: true, parts });
    await vi.waitFor(() => expect(told).toContainEqual({ kind: 'told', id: 1, answer }));
    send({ kind: 'tell', id: 2, what: 'metrics' });
    const metric = expect.objectContaining({ name: 'weir_receipts_total' });
    await vi.waitFor(() =>
      expect(told).toContainEqual({
        kind: 'told',
        id: 2,
        answer: expect.arrayContaining([metric]),
      }),
    );
    // The catalog's figures are for the first process to tell.
    expect(JSON.stringify(told)).not.toContain('weir_backlog_deliveries');
  });

  test('refuses with 503 while its supervisor stands still, and goes on after it', async () => {
    const sent = pushOf('two', dayText(2), '2');
    answers = false;
    const refused = await sendOnce(place, weir.url, sent);
    expect([refused?.status, refused?.headers.get('Retry-After')]).toEqual([503, '1']);
    answers = true;
    expect((await sendOnce(place, weir.url, sent))?.status).toBe(202);
  });

  test('leaves signals to its supervisor, and ends with it', async () => {
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect((await sendOnce(place, weir.url, pushOf('three', dayText(3), '3')))?.status).toBe(202);
    const ended = once(child, 'exit');
    child.disconnect();
    expect(await ended).toEqual([null, 'SIGKILL']);
  });
});
