import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { median } from '../statistics.ts';

const bytes = 8_388_608;
const rounds = 15;

/** What 8 MiB cost at the least on this machine, whatever the program: words and figures. */
export async function measureLimits(): Promise<[string, string][]> {
  const body = randomBytes(bytes);
  const hash = await times(async () => {
    createHash('sha256').update(body).digest();
  });
  const target = Buffer.alloc(bytes);
  const copy = await times(async () => {
    target.set(body);
  });
  const loopback = await loopbackTimes(body);
  return [
    ['SHA-256 of 8 MiB', `${median(hash).toFixed(1)} ms`],
    ['one copy of 8 MiB in memory', `${median(copy).toFixed(1)} ms`],
    ['8 MiB over loopback, one process to itself', `${median(loopback).toFixed(1)} ms`],
  ];
}

async function loopbackTimes(body: Buffer): Promise<number[]> {
  const server = net.createServer((socket) => {
    let come = 0;
    socket.on('data', (chunk) => {
      come += chunk.length;
      if (come % bytes === 0) socket.write('.');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const found = await times(async () => {
    socket.write(body);
    await once(socket, 'data');
  });
  socket.destroy();
  server.close();
  return found;
}

async function times(work: () => Promise<void>): Promise<number[]> {
  await work();
  const found: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const started = performance.now();
    await work();
    found.push(performance.now() - started);
  }
  return found;
}
