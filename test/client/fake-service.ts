import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it came in, whole. */
export interface Received {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What the service does with one request whose body has come. */
export type Act = (response: http.ServerResponse, received: Received) => void;

export const receipt = {
  artifact_id: '01980000-0000-7000-8000-000000000001',
  shape_version: 1,
  status: 'queued',
  sandbox: false,
} as const;

/** Answers with JSON. */
export function answer(status: number, body: object, headers: http.OutgoingHttpHeaders = {}): Act {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export const accepted = answer(202, receipt);

/** Answers with the specification's Error. */
export function refusal(status: number, code: string, headers: http.OutgoingHttpHeaders = {}): Act {
  return answer(status, { code, message: 'No.' }, headers);
}

/** Cuts the connection without an answer. */
export const reset: Act = (response) => {
  (response.socket as Socket).resetAndDestroy();
};

/** A service that does what a test tells it to; the last act is repeated. */
export class FakeService {
  readonly received: Received[] = [];
  readonly #server: http.Server;
  #acts: readonly Act[] = [accepted];

  constructor() {
    this.#server = http.createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts),
      };
      const act = this.#acts[Math.min(this.received.length, this.#acts.length - 1)]!;
      this.received.push(received);
      act(response, received);
    });
  }

  async start(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  /** Forgets what came and acts so from now on. */
  will(...acts: readonly Act[]): void {
    this.received.length = 0;
    this.#acts = acts;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<unknown>((resolve) => this.#server.close(resolve));
  }
}

/** A clock that only moves when somebody sleeps. */
export class VirtualTime {
  now = Date.parse('2026-11-20T12:00:00Z');
  readonly sleeps: number[] = [];
  readonly clock = () => this.now;
  readonly sleep = async (ms: number) => {
    this.sleeps.push(ms);
    this.now += ms;
  };
}
