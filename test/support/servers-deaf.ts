/**
 * A port at which TCP connections hang: it is listened at, but nobody accepts and the queue is
 * full, so the kernel leaves further ones without an answer.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

const PROGRAM = `
const { parentPort } = require('node:worker_threads');
const server = require('node:net').createServer()
  .listen({ port: 0, host: '127.0.0.1', backlog: 1 });
server.on('listening', () => {
  parentPort.postMessage(server.address().port);
  // The message leaves first; after this the thread does nothing more.
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
`;
// Linux queues one more than asked for.
const QUEUED = 2;

export type DeafServer = { readonly port: number; close(): Promise<void> };

export async function startDeafServer(): Promise<DeafServer> {
  const worker = new Worker(PROGRAM, { eval: true });
  const [port]: number[] = await once(worker, 'message');
  const queued: Socket[] = [];
  for (let count = 0; count < QUEUED; count += 1) {
    const socket = connect(port ?? 0, '127.0.0.1');
    socket.on('error', () => {});
    queued.push(socket);
    await once(socket, 'connect');
  }
  return {
    port: port ?? 0,
    async close() {
      for (const socket of queued) socket.destroy();
      await worker.terminate();
    },
  };
}
