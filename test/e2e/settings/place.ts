/** A server started with one setting changed, and a target that its requests go to. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ended } from '../../support/children.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { addRecord, ask } from '../ask.ts';
import type { Question, Reply } from '../ask.ts';
import { start, whenListening } from '../processes.ts';

/** By dotted name. */
export type Given = Readonly<Record<string, unknown>>;

export class Target {
  /** What it answers, and after how long. */
  status = 200;
  delayMs = 0;
  hits = 0;
  connections = 0;
  mostAtOnce = 0;
  #underWay = 0;
  readonly #server = createServer((request, response) => {
    this.hits += 1;
    this.#underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
    request.resume();
    response.on('close', () => {
      this.#underWay -= 1;
    });
    void delay(this.delayMs).then(() => response.writeHead(this.status).end());
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async open(): Promise<void> {
    this.#server.on('connection', () => {
      this.connections += 1;
    });
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }
}

export type Place = {
  readonly url: string;
  readonly target: Target;
  readonly data: string;
  ask(path: string, question?: Question): Promise<Reply>;
  /** Makes a record of the API; its identifier. */
  make(path: string, body: object): Promise<string>;
  /** Makes an incoming hook with a forward to `url`, and further members. */
  hookTo(url: string, members?: object): Promise<void>;
  /** The status of a request to that hook, and what it says. */
  callHook(question?: Question): Promise<{ readonly status: number; readonly message: unknown }>;
  /** What has been written to stderr so far. */
  stderr(): string;
  stop(): Promise<Ended>;
};

/**
 * Starts a server under `given`, runs `uses` one after the other, each with a target and a hook of
 * its own, and ends the server. Resolves with their results.
 */
export async function withServer<T>(
  given: Given, uses: readonly ((place: Place) => Promise<T>)[],
): Promise<T[]> {
  const data = createTemporaryFolder();
  const settings = nested({ 'server.port': 0, ...given });
  writeFileSync(join(data, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
  const { url, stop, stderr } = await whenListening(start(['serve', '--data', data]));
  try {
    const results: T[] = [];
    for (const use of uses) {
      results.push(await withTarget((target) =>
        use({ url, target, data, ...callers(url), stop, stderr })));
    }
    return results;
  } finally {
    await stop('SIGKILL');
  }
}

async function withTarget<T>(use: (target: Target) => Promise<T>): Promise<T> {
  const target = new Target();
  await target.open();
  try {
    return await use(target);
  } finally {
    await target.close();
  }
}

let hooks = 0;

function callers(url: string): Pick<Place, 'ask' | 'make' | 'hookTo' | 'callHook'> {
  const askHere = (path: string, question: Question = {}): Promise<Reply> =>
    ask(url + path, question);
  const make = (path: string, body: object): Promise<string> => addRecord(url + path, body);
  hooks += 1;
  const pathSegment = `hook-${hooks}`;
  return {
    ask: askHere,
    make,
    async hookTo(to, members = {}) {
      const options = { url: to };
      const actionConfiguration =
        await make('/api/action-configurations', { actionType: 'http-forward', options });
      await make('/api/incoming-webhooks', { pathSegment, actionConfiguration, ...members });
    },
    async callHook(question = {}) {
      const reply = await askHere(`/webhook/in/${pathSegment}`, {
        method: 'POST', body: {}, ...question,
      });
      let message: unknown = null;
      if (reply.text.startsWith('{')) message = JSON.parse(reply.text).message ?? null;
      return { status: reply.status, message };
    },
  };
}

/** `{ 'http.timeout': 1 }` as `{ http: { timeout: 1 } }`. */
function nested(given: Given): object {
  const settings: Record<string, Record<string, unknown>> = {};
  const groups: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const [group = '', member] = name.split('.');
    if (member === undefined) groups[group] = value;
    else (settings[group] ??= {})[member] = value;
  }
  return { ...settings, ...groups };
}
