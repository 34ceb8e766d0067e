import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Names and values in turn, as they came. */
export type RawHeaders = readonly string[];

export interface Answer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** A request that has come whole. */
export interface Passing {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** Asks the server behind, with another body where one is given. */
  ask(body?: Buffer): Promise<Answer>;
}

/** What becomes of a request: its answer; or its connection is cut; or nothing comes, ever. */
export type Treat = (passing: Passing) => Promise<Answer | 'cut' | 'silence'>;

export interface HttpProxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** A proxy in front of a local HTTP server that treats each request as told. */
export async function startHttpProxy(upstreamPort: number, treat: Treat): Promise<HttpProxy> {
  const agent = new http.Agent({ keepAlive: true });
  const server = http.createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    answer(upstreamPort, agent, request, response, treat).catch((error) => {
      // The client went, or the server behind is away: for the client a cut either way.
      response.destroy(error as Error);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections();
      agent.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  port: number,
  agent: http.Agent,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  treat: Treat,
): Promise<void> {
  const { method = '', url = '', headers } = request;
  const whole = await buffer(request);
  const ask = (body = whole) => {
    // As they came: a signature is over names and values.
    const given = withHeader(request.rawHeaders, 'content-length', String(body.length));
    return exchange(
      http.request({ host: '127.0.0.1', port, agent, method, path: url, headers: given }),
      body,
    );
  };
  const answered = await treat({ method, url, headers, body: whole, ask });
  if (answered === 'silence') return;
  if (answered === 'cut') {
    request.socket.destroy();
    return;
  }
  response.writeHead(answered.status, [...answered.headers]);
  response.end(answered.body);
}

async function exchange(request: http.ClientRequest, body: Buffer): Promise<Answer> {
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const { statusCode, rawHeaders } = response;
  return { status: statusCode!, headers: rawHeaders, body: await buffer(response) };
}

/** The headers with another value of one, which stands in them; null leaves it out. */
export function withHeader(headers: RawHeaders, name: string, value: string | null): string[] {
  const changed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const key = headers[at]!;
    const isIt = key.toLowerCase() === name;
    if (isIt && value === null) continue;
    changed.push(key, isIt ? value! : headers[at + 1]!);
  }
  return changed;
}

export function headerOf(headers: RawHeaders, name: string): string | undefined {
  const at = headers.findIndex((one, i) => i % 2 === 0 && one.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1];
}
