import http from 'node:http';
import { limits } from '../../src/domain/limits.ts';

/**
 * Sends documents of 8 MiB, all at once, from a process of its own: `url key count`. Prints the
 * statuses of the answers as a JSON array.
 */
const [url = '', key = '', count = '0'] = process.argv.slice(2);
const agent = new http.Agent({ maxSockets: Number(count) });
const filler = Buffer.alloc(limits.deliveryBytesMax, 'x');

function upload(i: number): Promise<number> {
  const start = Buffer.from(`day,amount,note\n2026-03-01,${i},`);
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/octet-stream',
    'Content-Length': limits.deliveryBytesMax,
    'Idempotency-Key': `upload-${i}`,
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/v1/ingest`, { method: 'POST', agent, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.write(start);
    request.end(filler.subarray(start.length));
  });
}

const statuses = await Promise.all(Array.from({ length: Number(count) }, (_, i) => upload(i)));
process.stdout.write(JSON.stringify(statuses));
