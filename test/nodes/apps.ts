/** Several apps in this process over one engine in memory, each with a data directory. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openApp, type App } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { ask, type Question, type Reply } from '../e2e/ask.ts';
import { SimulatedEngine } from '../support/simulated-engine.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

export type Node = {
  readonly id: string;
  readonly app: App;
  /** Its data directory. */
  readonly data: string;
  readonly url: string;
  ask(path: string, question?: Question): Promise<Reply>;
};

export class Apps {
  readonly engine = new SimulatedEngine();
  readonly #folder = createTemporaryFolder();
  readonly #nodes: Node[] = [];
  readonly #targets: Server[] = [];

  /** `aheadMs`: by how much its wall clock is. */
  async start(id: string = randomUUID(), aheadMs = 0): Promise<Node> {
    const { settings } = loadSettings({});
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
    const data = join(this.#folder, id);
    const app = await openApp({
      clock, data, settings, logger: silentLogger, role: 'server',
      sharedLog: { engine: this.engine, node: id },
    });
    const { url } = await app.listen({ port: 0 });
    const node: Node = {
      id, app, data, url, ask: (path, question) => ask(`${url}${path}`, question),
    };
    this.#nodes.push(node);
    return node;
  }

  /** A target of outgoing webhooks that answers 200 and counts. */
  async target(onRequest: (id: string, body: string) => void): Promise<string> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      onRequest(String(request.headers['webhook-id']), Buffer.concat(chunks).toString());
      response.end();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    this.#targets.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map(({ app }) => app.close()));
    for (const target of this.#targets) target.close();
  }
}

/** Several nodes over one log. */
export async function withNodes(
  count: number, use: (nodes: readonly Node[], apps: Apps) => Promise<void>,
): Promise<void> {
  const apps = new Apps();
  try {
    const nodes: Node[] = [];
    for (let index = 0; index < count; index += 1) nodes.push(await apps.start());
    await use(nodes, apps);
  } finally {
    await apps.close();
  }
}
