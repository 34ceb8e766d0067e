import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answer,
  type HttpProxy,
  type Passing,
  startHttpProxy,
  withHeader,
} from './http-proxy.ts';

/** What a store can say or do that is not so, to an upload. */
export const uploadLies = [
  'loses it and says 200',
  'keeps half of the body',
  'flips a bit of the body',
  'keeps it and answers 500',
  'keeps it and says another checksum',
  'keeps it and says no checksum',
  'keeps it and hangs up',
  'keeps it and never answers',
  'keeps it and answers late',
] as const;

/** And to a read. */
export const readLies = [
  'flips a bit of what it keeps',
  'gives half',
  'says it is missing',
] as const;

export type Lie = (typeof uploadLies)[number] | (typeof readLies)[number];

/** A store behind a proxy that lies about artifacts; about all else it says the truth. */
export interface LyingStore {
  readonly port: number;
  /** From now on, `times` times; null: the truth. */
  lie(lie: Lie | null, times?: number): void;
  /** How often the last one was told. */
  told(): number;
  stop(): Promise<void>;
}

const checksum = 'x-amz-checksum-sha256';
const artifact = /\/\d{4}\/\d{2}\/\d{2}\/[0-9a-f-]{36}(\.segment)?(\?|$)/;

/** @param lateMs how late a late answer is */
export async function startLyingStore(storePort: number, lateMs: number): Promise<LyingStore> {
  let now: Lie | null = null;
  let left = 0;
  let told = 0;
  const proxy: HttpProxy = await startHttpProxy(storePort, async (passing) => {
    if (now === null || left <= 0 || !isAbout(now, passing)) return passing.ask();
    left -= 1;
    told += 1;
    return lying(now, passing, lateMs);
  });
  return {
    port: proxy.port,
    lie(lie, times = Number.POSITIVE_INFINITY) {
      [now, left, told] = [lie, times, 0];
    },
    told: () => told,
    stop: () => proxy.stop(),
  };
}

function isAbout(lie: Lie, { method, url }: Passing): boolean {
  const wanted = (readLies as readonly string[]).includes(lie) ? 'GET' : 'PUT';
  return method === wanted && artifact.test(url);
}

async function lying(
  lie: Lie,
  passing: Passing,
  lateMs: number,
): Promise<Answer | 'cut' | 'silence'> {
  const { body } = passing;
  switch (lie) {
    case 'loses it and says 200': {
      const headers = [checksum, sumIn(passing), 'Content-Length', '0'];
      return { status: 200, headers, body: Buffer.alloc(0) };
    }
    case 'keeps half of the body':
      return passing.ask(body.subarray(0, body.length >> 1));
    case 'flips a bit of the body':
      return passing.ask(flipped(body));
    case 'keeps it and answers 500':
      await kept(passing);
      return failed(500, 'InternalError');
    case 'keeps it and says another checksum':
      return edited(await kept(passing), Buffer.alloc(32, 1).toString('base64'));
    case 'keeps it and says no checksum':
      return edited(await kept(passing), null);
    case 'keeps it and hangs up':
      await kept(passing);
      return 'cut';
    case 'keeps it and never answers':
      await kept(passing);
      return 'silence';
    case 'keeps it and answers late':
      await sleep(lateMs);
      return kept(passing);
    default:
      return readLie(lie, await passing.ask());
  }
}

function readLie(lie: (typeof readLies)[number], answer: Answer): Answer {
  if (lie === 'says it is missing') return failed(404, 'NoSuchKey');
  const body =
    lie === 'gives half' ? answer.body.subarray(0, answer.body.length >> 1) : flipped(answer.body);
  const headers = withHeader(answer.headers, 'content-length', String(body.length));
  return { ...answer, headers, body };
}

/** The object must be there, or the lie would be none. */
async function kept(passing: Passing): Promise<Answer> {
  const answer = await passing.ask();
  if (answer.status !== 200) throw new Error(`the store itself answered ${answer.status}`);
  return answer;
}

function edited(answer: Answer, sum: string | null): Answer {
  return { ...answer, headers: withHeader(answer.headers, checksum, sum) };
}

function failed(status: number, code: string): Answer {
  const body = Buffer.from(`<Error><Code>${code}</Code><Message>so it says</Message></Error>`);
  const headers = ['Content-Type', 'application/xml', 'Content-Length', String(body.length)];
  return { status, headers, body };
}

/** In the middle, which lies in the body and not in what frames it. */
function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1]! ^= 4;
  return copy;
}

/** The checksum of a PUT: in its head, or behind its body. */
function sumIn({ headers, body }: Passing): string {
  const inHead = headers[checksum];
  if (typeof inHead === 'string') return inHead;
  const end = body.toString('latin1', Math.max(0, body.length - 200));
  const sum = /x-amz-checksum-sha256:(\S+)\r\n\r\n$/.exec(end)?.[1];
  if (sum === undefined) throw new Error('the upload has no checksum');
  return sum;
}
