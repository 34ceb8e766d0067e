import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { isAlive } from '../support/alive.ts';
import { seedOf } from '../support/seed.ts';
import { randomOf } from './load.ts';
import { expectNothingLost } from './oracle.ts';
import { enginePid, type FaultPlace, makePlace } from './place.ts';
import { dayText, documentOf, pushOf, type Sent, sendUntilKept } from './sender.ts';

const timeout = 120_000;
const graceMs = 15_000;

test.concurrent('SIGTERM under load: what was begun is answered, exit 0, and nothing is lost', {
  timeout,
}, async () => {
  const random = randomOf(seedOf('SIGTERM'));
  const place = await makePlace();
  try {
    const weir = place.weir();
    await weir.start();
    const engine = enginePid(weir);
    const slow = documentOf('slow', [{ period: dayText(0), page: '/', value: '1' }]);
    const half = beginSlowly(place.document.accessKey, weir.url, slow);
    const load = senders(place, weir.url, random);
    await sleep(500);

    const ended = weir.died();
    const signalled = Date.now();
    process.kill(weir.pid!, 'SIGTERM');
    await sleep(300);
    half.finish();
    expect(await half.status).toBe(202);
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(Date.now() - signalled).toBeLessThan(graceMs);
    expect(isAlive(engine)).toBe(false);
    const sent = await load.stop();
    // Every request that was sent was answered, and none with an error or a broken connection.
    expect(load.errors).toEqual([]);
    expect(load.ends).toEqual(Array.from({ length: 8 }, () => 'ECONNREFUSED'));

    const next = place.weir();
    await next.start();
    for (const one of sent) await sendUntilKept(place, next.url, one);
    await sendUntilKept(place, next.url, slow);
    expect(await expectNothingLost(place, next, [...sent, slow])).toBe(0);
  } finally {
    await place.remove();
  }
});

test.concurrent('a second service on a directory ends with one clear line, the first goes on', {
  timeout,
}, async () => {
  const place = await makePlace();
  try {
    const first = place.weir();
    await first.start();
    const other = await endOf(place.weir().env());
    expect(other).toMatchObject({ code: 1 });
    expect(other.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        /^weir: another engine is running on .*; one directory has one engine$/,
      ),
    ]);
    const push = pushOf('a push', dayText(0), '1');
    await sendUntilKept(place, first.url, push);
    expect(await expectNothingLost(place, first, [push])).toBe(0);
  } finally {
    await place.remove();
  }
});

test.concurrent('a service whose address is taken ends with one clear line', {
  timeout,
}, async () => {
  const [one, two] = [await makePlace(), await makePlace()];
  try {
    const first = one.weir();
    await first.start();
    const taken = new URL(first.url).host;
    const other = await endOf({ ...two.weir().env(), WEIR_LISTEN: taken });
    expect(other).toMatchObject({ code: 1 });
    expect(other.stderr.trim().split('\n')).toEqual([
      `weir: the address ${taken} cannot be listened on`,
    ]);
  } finally {
    await Promise.all([one.remove(), two.remove()]);
  }
});

test.concurrent('SIGTERM to npm start ends the service too', { timeout }, async () => {
  const place = await makePlace();
  const env = place.weir().env();
  // A group of its own: whatever a failure leaves running is ended with it.
  const npm = spawn('npm', ['start'], { env, stdio: 'ignore', detached: true });
  const ended = once(npm, 'exit');
  const isLive = () => fetch(`http://${env.WEIR_OPS_LISTEN}/livez`).then(Boolean, () => false);
  try {
    await vi.waitFor(async () => expect(await isLive()).toBe(true), { timeout: 60_000 });
    npm.kill('SIGTERM');
    await ended;
    await vi.waitFor(async () => expect(await isLive()).toBe(false), { timeout: graceMs });
  } finally {
    endGroup(npm.pid!);
    await place.remove();
  }
});

/** A request whose body comes in two halves, the second when `finish` is called. */
function beginSlowly(accessKey: string, url: string, sent: Sent) {
  const headers = {
    Authorization: `Bearer ${accessKey}`,
    'Content-Type': 'application/octet-stream',
    'Content-Length': sent.body.length,
    'Idempotency-Key': sent.key,
  };
  const sending = request(`${url}/v1/ingest`, { method: 'POST', headers });
  const status = new Promise<number>((resolve, reject) => {
    sending.once('error', reject);
    sending.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.once('end', () => {
        if (answer.statusCode === 202) sent.receipts.push(text);
        resolve(answer.statusCode!);
      });
    });
  });
  status.catch(() => {}); // Told where it is awaited.
  sending.write(sent.body.subarray(0, 10));
  return { status, finish: () => sending.end(sent.body.subarray(10)) };
}

/** Senders who never repeat: they stop when the service no longer takes their connection. */
function senders(
  place: FaultPlace,
  url: string,
  random: (n: number) => number,
): { readonly errors: string[]; readonly ends: string[]; stop(): Promise<Sent[]> } {
  const sent: Sent[] = [];
  const errors: string[] = [];
  const ends: string[] = [];
  const all = Array.from({ length: 8 }, async (_, sender) => {
    for (let n = 0; ; n++) {
      const one = pushOf(`s${sender}-${n}`, dayText(random(40)), `${n}.${sender}0`);
      sent.push(one);
      const answer = await push(place, url, one);
      if (typeof answer === 'string') {
        ends.push(answer);
        return;
      }
      if (answer.status === 202) one.receipts.push(answer.text);
      else errors.push(`${answer.status} ${answer.text}`);
    }
  });
  return {
    ...{ errors, ends },
    async stop() {
      await Promise.all(all);
      return sent;
    },
  };
}

/** @returns the answer, or the system's word for why none came */
async function push(
  place: FaultPlace,
  url: string,
  { body }: Sent,
): Promise<{ status: number; text: string } | string> {
  const { accessKey } = place.push;
  const headers = { Authorization: `Bearer ${accessKey}`, 'Content-Type': 'application/json' };
  try {
    const sending = { method: 'POST', headers, body: new Uint8Array(body) };
    const answer = await fetch(`${url}/v1/ingest`, sending);
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code ?? String(error);
  }
}

function endOf(env: NodeJS.ProcessEnv): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env, timeout: 60_000, killSignal: 'SIGKILL' as const };
    const child = execFile('src/start/weir', ['serve'], options, (_, __, stderr) => {
      resolve({ code: child.exitCode, stderr });
    });
  });
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
