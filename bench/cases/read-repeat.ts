import { ask } from '../../test/support/ask.ts';
import type { BenchCase, Variant } from '../case.ts';
import {
  freshReads,
  freshWindows,
  latency,
  type ReadPlace,
  readCount,
  readPlace,
  readRequest,
  requireRead,
  type WindowText,
} from './reads.ts';

/** What a dashboard does: the same window again and again, of which nothing has changed. */
export const readRepeat: BenchCase = {
  name: 'read-repeat',
  title: 'p50 of a repeated read of an unchanged window, against its first read',
  unit: 'ms',
  group: 'reads',
  variants: () => [
    { ...variant('whole answer', 200), judged: true },
    { ...variant('with If-None-Match (304)', 304), judged: false },
  ],
};

function variant(name: string, status: 200 | 304): Omit<Variant, 'judged'> {
  return {
    name,
    goal: { value: 0.1, bound: 'at most', of: 'ratio' },
    async prepare(world) {
      const place = await readPlace(world);
      const { weir, loader, usual } = place;
      const [window] = freshWindows(1);
      let more = '';
      return {
        async check() {
          await requireRead(place.weir, usual);
          const etag = await requireSameTwice(place, window!);
          if (status === 304) more = `if-none-match: ${etag}\r\n`;
        },
        ours: () => {
          const request = readRequest(weir, usual.key, window!, more);
          const requests = Array.from({ length: 5 * readCount(world) }, () => request);
          return latency(loader, { port: weir.port }, requests, { status });
        },
        theirs: () => freshReads(world, place, usual),
        async close() {},
      };
    },
  };
}

/** @returns the answer's ETag */
async function requireSameTwice(
  { weir, usual }: ReadPlace,
  { from, to }: WindowText,
): Promise<string> {
  const url = `${weir.test.url}/v1/samples?from=${from}&to=${to}`;
  const read = () => ask(url, { headers: { Authorization: `Bearer ${usual.key}` } });
  const [first, second] = [await read(), await read()];
  if (first.status !== 200 || !first.body.equals(second.body)) {
    throw new Error(`a repeated read differs: ${first.status}, ${second.status}`);
  }
  return first.headers.etag!;
}
