/** The library in the process of the tests, and servers of other programs around it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createHookshelf } from '../../src/index.ts';
import type { Hookshelf, HookshelfOptions } from '../../src/index.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** An app that ends with the test, on a new data directory unless `options` names one. */
export async function openHookshelf(
  context: TestContext, options: HookshelfOptions = {},
): Promise<Hookshelf> {
  const app = await createHookshelf({ data: createTemporaryFolder(), ...options });
  context.after(() => app.close());
  return app;
}

/** The port of an app that listens on one from the kernel. */
export async function listenOnPort(app: Hookshelf): Promise<number> {
  return Number(new URL((await app.listen({ port: 0 })).url).port);
}

/** A plain server that calls `listener` for each request and ends with the test. */
export async function serveHandler(
  context: TestContext, listener: RequestListener,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await once(server.close(), 'close');
  };
  context.after(close);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, close };
}
