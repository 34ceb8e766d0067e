/** A worker: answers as soon as a request begins and closes with bytes unread, which is a reset. */
import { type AddressInfo, createServer } from 'node:net';
import { parentPort } from 'node:worker_threads';

const body = '{"code":"unauthenticated","message":"No."}';
const answer = `HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const server = createServer((socket) => {
  // The sender's end of the connection is what the test looks at.
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.pause();
    socket.write(answer, () => socket.destroy());
  });
});
server.listen(0, '127.0.0.1', () => {
  parentPort!.postMessage((server.address() as AddressInfo).port);
});
