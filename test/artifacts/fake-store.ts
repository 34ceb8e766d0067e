import { once } from 'node:events';
import net from 'node:net';
import { afterEach } from 'vitest';
import { parseS3Address } from '../../src/artifacts/s3/address.ts';
import { type S3Limits, S3Store } from '../../src/artifacts/s3/store.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A TCP server on loopback that treats each connection as told, in place of a store. */
export async function fakeStore(treat: (socket: net.Socket, nth: number) => void, limits = {}) {
  const sockets: net.Socket[] = [];
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    treat(socket, sockets.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const store = storeAt(port, limits);
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { store, sockets, port, server };
}

export function storeAt(port: number, limits: Partial<S3Limits> = {}): S3Store {
  const store = new S3Store(parseS3Address(`s3+http://k:s@127.0.0.1:${port}/weir`), limits);
  ends.push(() => void store.close());
  return store;
}

/** Answers each whole PUT as a store does; `answer` may change the head. */
export function serve(socket: net.Socket, answer = (good: string) => good): void {
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
    const sum = sumOf(received);
    if (!sum) return;
    received = '';
    const headers = `x-amz-checksum-sha256: ${sum}\r\nContent-Length: 0\r\n`;
    socket.write(answer(`HTTP/1.1 200 OK\r\n${headers}\r\n`));
  });
}

/** The checksum of a PUT that is there as a whole: behind its body, or in its head. */
function sumOf(received: string): string | undefined {
  const trailer = /x-amz-checksum-sha256:(\S+)\r\n\r\n$/.exec(received)?.[1];
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const length = Number(/content-length: (\d+)/.exec(head)?.[1]);
  const isWhole = rest.join('\r\n\r\n').length === length;
  return trailer ?? (isWhole ? /x-amz-checksum-sha256: (\S+)/.exec(head)?.[1] : undefined);
}
