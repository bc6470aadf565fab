/** The events and rules of one outgoing webhook, through the commands, and through a kill. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';
import { FlappingTarget } from './relay-target.ts';

type Json = Readonly<Record<string, unknown>>;

async function get({ url }: Running, path: string): Promise<Json> {
  return JSON.parse((await ask(`${url}${path}`)).text);
}

/** Looks again and again until `isDone`; the test's own time is its end. */
async function seen(server: Running, path: string, isDone: (now: Json) => boolean): Promise<Json> {
  for (;;) {
    const now = await get(server, path);
    if (isDone(now)) return now;
    await wait(20);
  }
}

test('a webhook for every event is tried by its own schedule, and disabled after its own time',
  { timeout: 120_000 }, () => inFolder(async (data) => {
    const target = new FlappingTarget();
    await target.open();
    const targetUrl = target.url;
    await target.turn('down');
    const run = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await hookshelf([...words, '--json', '--data', data]);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const servers: Running[] = [await startServer(['--data', data])];
    try {
      const hook: Json = JSON.parse(await run('outgoingwebhook:create', '--target-url', targetUrl,
        '--trigger-event', '*', '--retry-schedule', new Array(100).fill('0.2').join(),
        '--timeout', '5', '--max-in-flight', '1', '--disable-after-hours', '0.001'));
      const path = `/api/outgoing-webhooks/${String(hook['identifier'])}`;
      await run('book:add', '--input', '{"title":"Emma"}');
      const [{ identifier, event }] = JSON.parse(await run('delivery:list'));
      assert.equal(event, 'book.created');
      const delivery = `/api/deliveries/${identifier}`;
      const [first] = servers;
      assert.ok(first !== undefined);
      await seen(first, delivery, ({ attempts }) => Array.isArray(attempts) && attempts.length > 1);
      await first.stop('SIGKILL');
      const restartedMs = Date.now();
      const second = await startServer(['--data', data]);
      servers.push(second);
      await seen(second, path, ({ enabled }) => enabled === false);
      const log = servers.map((server) => server.stderr()).join('');
      const [, since = ''] = /"failingSince":"([^"]+)"/.exec(log) ?? [];
      assert.ok(Date.parse(since) < restartedMs, log);
      assert.equal((await get(second, delivery))['status'], 'pending');
      await target.turn('up');
      await run('outgoingwebhook:enable', '--identifier', String(hook['identifier']));
      await seen(second, delivery, ({ status }) => status === 'delivered');
      assert.equal(target.arrived.length, 1);
      await second.stop('SIGTERM');
      await run('data:verify');
    } finally {
      for (const server of servers) await server.stop('SIGKILL');
      await target.close();
    }
  }));
