/** The whole app behind a port, in the process of the tests: a server that costs no process. */
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { openApp } from '../../src/app.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { inFolder } from './temporary-folder.ts';

export type AppServer = {
  readonly url: string;
  readonly port: number;
  readonly data: string;
  /** What it has logged, a JSON object a line. */
  log(): string;
  close(): Promise<void>;
};

/** Serves a data directory as `hookshelf serve` does under that environment. */
export async function openAppServer(
  data: string, environment: Readonly<Record<string, string>> = {},
): Promise<AppServer> {
  let log = '';
  const { settings } = loadSettings({ environment });
  const app = await openApp({
    data, settings, role: 'server', logger: createLogger({
      level: 'info', format: 'json', now: () => systemClock.now(),
      write: (line) => {
        log += line;
      },
    }),
  });
  const { url } = await app.listen({ port: 0 });
  return { url, port: Number(new URL(url).port), data, log: () => log, close: () => app.close() };
}

/** Serves a new data directory while `use` runs. */
export function withAppServer(
  use: (server: AppServer) => Promise<void>, environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  return inFolder(async (data) => {
    const server = await openAppServer(data, environment);
    try {
      await use(server);
    } finally {
      await server.close();
    }
  });
}
