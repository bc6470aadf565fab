/** Emits many events at a server over 64 keep-alive connections. */
import { Agent, request } from 'node:http';
import { makeBook } from './books.ts';

const CONNECTIONS = 64;

export async function emitMany(port: number, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const emitRest = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await emit(port, agent, JSON.stringify({ name: 'bench', payload: makeBook(next) }));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, emitRest));
  agent.destroy();
}

function emit(port: number, agent: Agent, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body),
    };
    const path = '/api/events';
    request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 202) resolve();
        else reject(new Error(`an event got ${response.statusCode}`));
      });
    }).on('error', reject).end(body);
  });
}
