import autocannon, { type Request } from 'autocannon';
import { hostHeader } from '../../src/artifacts/s3/address.ts';
import type { Load, PushesJob } from './messages.ts';
import { pushBody } from './push.ts';
import { keptStatus, requestHead } from './target.ts';

/**
 * Sends pushes by autocannon, one on each connection at a time, each with a key of its own.
 *
 * @throws Error when any answer is not the one that says that the push is kept
 */
export async function sendPushes(job: PushesJob): Promise<Load> {
  const { target, connections, count } = job;
  const host = target.kind === 'put' ? hostHeader(target.address) : `127.0.0.1:${target.port}`;
  // Made before anything is timed: making them would slow the faster side more.
  const pushes = Array.from({ length: count + connections }, (_, i) => ({
    // Pushes are never hashed, so that there is no body to look at.
    ...requestHead(target, job.first + i, 'application/json', []),
    body: pushBody(job.first + i, job.pushBytes),
  }));
  let next = 0;
  const setupRequest = (request: Request) => ({ ...request, ...pushes[next++] });
  const latenciesMs: number[] = [];
  const started = performance.now();
  let ended = started;
  const running = autocannon({
    url: `http://${host}`,
    ...{ connections, amount: count, sampleInt: 20, bailout: 1 },
    requests: [{ setupRequest }],
  });
  // Timed by the answers: it looks only now and then whether it is done.
  running.on('response', (_client, _status, _bytes, ms) => {
    latenciesMs.push(ms);
    ended = performance.now();
  });
  const { errors, statusCodeStats } = await running;
  const kept = statusCodeStats[keptStatus[target.kind]]?.count ?? 0;
  if (errors > 0 || kept !== count) {
    throw new Error(`${kept} of ${count} pushes were kept: ${JSON.stringify(statusCodeStats)}`);
  }
  return { seconds: (ended - started) / 1_000, bytes: count * job.pushBytes, latenciesMs };
}
