import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Body } from '../../src/accept/body.ts';
import type { Exchange } from '../../src/http/exchange.ts';

type OnData = (chunk: ArrayBuffer, isLast: boolean) => void;

/** A connection that brings what a test says; a paused one brings nothing, as a socket would. */
class TestConnection {
  paused = false;
  #onData: OnData = () => {};
  readonly #waiting: (() => void)[] = [];

  readonly exchange = {
    open: true,
    onGone: () => {},
    cut: () => {},
    res: {
      onData: (tell: OnData) => {
        this.#onData = tell;
      },
      pause: () => {
        this.paused = true;
      },
      resume: () => {
        this.paused = false;
        for (const go of this.#waiting.splice(0)) go();
      },
    },
  } as unknown as Exchange;

  /** Chunks of one read come in spite of a pause, as with uWebSockets.js. */
  async bring(reads: readonly (readonly Uint8Array[])[]): Promise<void> {
    for (const [i, chunks] of reads.entries()) {
      while (this.paused) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      for (const [j, chunk] of chunks.entries()) {
        const memory = new Uint8Array(chunk).buffer;
        this.#onData(memory, i === reads.length - 1 && j === chunks.length - 1);
        // uWebSockets.js takes its memory back when the callback returns.
        new Uint8Array(memory).fill(0xee);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const chunk = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.integer({ min: 900, max: 9_000 }).map(patterned) },
  { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 200_000 }).map(patterned) },
);
const reads = fc.array(fc.array(chunk, { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 6,
});

function patterned(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + length) % 251);
}

describe('a body', () => {
  const readers: Record<string, (body: Body) => Promise<unknown>> = {
    'read at once': async () => {},
    'read some turns later': () => sleep(2),
    'read when it has begun': (body) => body.begun(5_000),
    'read when 64 KiB have come': (body) => body.begun(65_536),
  };
  test.each(Object.entries(readers))(
    '%s is what was sent, however it was cut into chunks and reads',
    async (_, until) => {
      await fc.assert(
        fc.asyncProperty(reads, async (sent) => {
          const connection = new TestConnection();
          const body = new Body(connection.exchange);
          const brought = connection.bring(sent);
          await until(body);
          const seen: Uint8Array[] = [];
          const collected = await body.collect(10, (bytes) => seen.push(Uint8Array.from(bytes)));
          await brought;
          const whole = Buffer.concat(sent.flat());
          expect(collected.body.equals(whole)).toBe(true);
          expect(Buffer.concat(seen).equals(whole)).toBe(true);
          expect(collected.bytes).toBe(whole.length);
          expect(collected.sha256).toEqual(createHash('sha256').update(whole).digest());
        }),
        { numRuns: 25 },
      );
    },
  );

  test('pauses its sender while nobody reads it and more came than is kept', async () => {
    for (const [bytes, paused] of [
      [65_536, false],
      [65_537, true],
    ] as const) {
      const connection = new TestConnection();
      const body = new Body(connection.exchange);
      let begun = false;
      const waiting = body.begun(65_536).then(
        () => {
          begun = true;
        },
        () => {},
      );
      void connection.bring([[patterned(bytes)], []]);
      await sleep(5);
      expect([connection.paused, begun]).toEqual([paused, paused]);
      body.abandon();
      await waiting;
    }
  });

  test('that gives way tells its reader why, and keeps nothing', async () => {
    const connection = new TestConnection();
    const body = new Body(connection.exchange);
    const waiting = body.begun(1_000);
    body.giveWay(new Error('too slow'));
    await expect(waiting).rejects.toThrow('too slow');
    await expect(body.collect(10)).rejects.toThrow('too slow');
  });
});
