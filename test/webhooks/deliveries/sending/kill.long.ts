/**
 * Real processes: events while the target flaps and the server is killed again and again. With
 * TEST_LONG=1 it is five thousand events and a dozen kills.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ask } from '../../../e2e/ask.ts';
import { startServer, type Running } from '../../../e2e/processes.ts';
import { IS_LONG } from '../../../support/long.ts';
import { below, createRandom } from '../../../support/random.ts';
import { inFolder } from '../../../support/temporary-folder.ts';

const EVENTS = IS_LONG ? 5000 : 400;
const KILLS = IS_LONG ? 12 : 3;
const CONNECTIONS = 16;
const WAIT_MS_MAX = 60_000;
const SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: JSON.stringify(Array(100).fill(0.3)),
  HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
};

/** Answers, refuses or hangs up, by its mood. */
class FlappingTarget {
  readonly arrived = new Map<number, number>();
  mood: 'up' | 'failing' | 'cutting' = 'up';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        if (this.mood === 'cutting') return void request.socket.destroy();
        if (this.mood === 'up') this.#count(JSON.parse(Buffer.concat(chunks).toString()).n);
        response.statusCode = this.mood === 'up' ? 200 : 503;
        response.end();
      });
    });
  }

  #count(n: number): void {
    this.arrived.set(n, (this.arrived.get(n) ?? 0) + 1);
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

let target: FlappingTarget | null = null;
let server: Running | null = null;
after(async () => {
  target?.close();
  await server?.stop('SIGKILL');
});

test('every acknowledged event arrives, through server kills and a flapping target', async () => {
  await inFolder(async (folder) => {
    const flapping = new FlappingTarget();
    target = flapping;
    const targetUrl = await flapping.listen();
    const restart = async (): Promise<Running> => {
      const started = await startServer(['--data', folder], { environment: SETTINGS });
      server = started;
      return started;
    };
    let running = await restart();
    const made = await ask(`${running.url}/api/outgoing-webhooks`, {
      method: 'POST', body: { targetUrl, triggerEvent: 'n' },
    });
    assert.equal(made.status, 201, made.text);
    const acknowledged = new Set<number>();
    const random = createRandom(5);
    let next = 0;
    let isUp = true;
    const emitSome = async (bound: number): Promise<void> => {
      // What is offered to a server that is not there says nothing.
      while (isUp && next < bound) {
        const n = next;
        next += 1;
        const body = { name: 'n', payload: { n } };
        const reply = await ask(`${running.url}/api/events`, { method: 'POST', body })
          .catch(() => null);
        if (reply?.status === 202) acknowledged.add(n);
      }
    };
    for (let round = 0; round <= KILLS; round += 1) {
      flapping.mood = (['up', 'failing', 'cutting'] as const)[below(random, 3)] ?? 'up';
      const share = Math.ceil(EVENTS / (KILLS + 1));
      const bound = Math.min(EVENTS, (round + 1) * share);
      const emitting = Promise.all(Array.from({ length: CONNECTIONS }, () => emitSome(bound)));
      if (round < KILLS) {
        // In the midst of it: a few are under way, some are acknowledged.
        while (next < bound - share / 2) await wait(1);
        isUp = false;
        await running.stop('SIGKILL');
        await emitting;
        running = await restart();
        isUp = true;
      }
      await emitting;
    }
    flapping.mood = 'up';
    const startedMs = Date.now();
    const missing = (): number[] => [...acknowledged].filter((n) => !flapping.arrived.has(n));
    while (missing().length > 0 && Date.now() - startedMs < WAIT_MS_MAX) await wait(1);
    const books = await ask(`${running.url}/api/deliveries/reconcile`);
    await running.stop();
    assert.deepEqual(missing(), []);
    // What was under way at a kill got no answer; all else did.
    assert.ok(acknowledged.size >= EVENTS - KILLS * CONNECTIONS,
      `${acknowledged.size} of ${next} acknowledged`);
    assert.deepEqual(JSON.parse(books.text).problems, []);
  });
});
