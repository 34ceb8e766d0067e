import { HttpConnection } from './http-connection.ts';
import type { IdleJob, Load, RequestsJob } from './messages.ts';

/** Sends requests one after the other. @throws Error when one is not answered as it should be */
export async function sendRequests({ address, requests, status }: RequestsJob): Promise<Load> {
  const connection = await HttpConnection.open(address);
  const latenciesMs: number[] = [];
  let bytes = 0;
  const started = performance.now();
  try {
    for (const request of requests) {
      const begun = performance.now();
      const answer = await connection.exchange([request]);
      latenciesMs.push(performance.now() - begun);
      bytes += answer.body.length;
      if (answer.status !== status) {
        throw new Error(`unexpected answer: ${answer.head}\n${answer.body}`);
      }
    }
  } finally {
    connection.close();
  }
  return { seconds: (performance.now() - started) / 1_000, bytes, latenciesMs };
}

let idle: HttpConnection[] = [];

/** Opens connections that have carried a request each. */
export async function openIdle({ port, connections }: IdleJob): Promise<Load> {
  const started = performance.now();
  const request = `GET /nothing HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
  const latenciesMs: number[] = [];
  while (idle.length < connections) {
    const open = await HttpConnection.open({ port });
    const begun = performance.now();
    await open.exchange([request]);
    latenciesMs.push(performance.now() - begun);
    idle.push(open);
  }
  return { seconds: (performance.now() - started) / 1_000, bytes: 0, latenciesMs };
}

/** Closes them. @throws Error when one of them did not stay open */
export function releaseIdle(): void {
  const gone = idle.filter((connection) => connection.closed).length;
  for (const connection of idle) connection.close();
  idle = [];
  if (gone > 0) throw new Error(`${gone} idle connections were closed by the server`);
}
