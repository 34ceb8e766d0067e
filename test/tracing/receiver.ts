import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A span as OTLP's JSON has it, as far as tests look at it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** Takes spans over OTLP/HTTP, as a collector does. */
export class Receiver {
  readonly spans: ReceivedSpan[] = [];
  /** All that was sent, as it came. */
  text = '';
  requests = 0;
  /** While true, requests are taken and left unanswered. */
  hangs = false;
  /** While true, answers come byte by byte and have no end. */
  drips = false;
  readonly #server = createServer((request, response) => {
    this.requests += 1;
    void textOf(request).then((text) => {
      if (this.hangs) return;
      if (this.drips) {
        const drip = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(drip));
        return;
      }
      this.#take(request, text);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });

  /** @param port 0: any */
  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The spans of a trace, when all of these names have come. */
  async trace(traceId: string, names: readonly string[]): Promise<ReceivedSpan[]> {
    for (const end = Date.now() + 15_000; ; await sleep(20)) {
      const found = this.spans.filter((span) => span.traceId === traceId);
      if (names.every((name) => found.some((span) => span.name === name))) return found;
      if (Date.now() > end) {
        const come = found.map(({ name }) => name).join(', ');
        throw new Error(`of ${names.join(', ')} there came only ${come}`);
      }
    }
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take({ url, method, headers }: IncomingMessage, text: string): void {
    const type = headers['content-type'];
    if (method !== 'POST' || url !== '/v1/traces' || type !== 'application/json') {
      throw new Error(`no export: ${method} ${url} ${type}`);
    }
    this.text += text;
    const { resourceSpans } = JSON.parse(text) as Export;
    for (const { scopeSpans } of resourceSpans) {
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }
}

/** The attributes of a span by name, numbers as text. */
export function attributesOf(span: ReceivedSpan): Record<string, string> {
  return Object.fromEntries(
    span.attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]),
  );
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
