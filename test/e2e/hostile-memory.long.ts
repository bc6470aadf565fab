/** What strangers send does not end a server that was given little memory. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { RawConnection, encodeRequest } from '../support/raw-http.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { startServer, type Running } from './processes.ts';

const MEGABYTES = 64;
const TIMEOUT = { timeout: 120_000 };

/** A server with an open webhook that runs this action, and ten that want a signature. */
async function serveWebhooks(data: string, action: object): Promise<Running> {
  const server = await startServer(['--data', data, '--max-memory', String(MEGABYTES)], {
    program: [process.execPath, PROGRAM],
  });
  const make = (path: string, body: object): Promise<string> =>
    addRecord(`${server.url}/api/${path}`, body);
  await make('action-configurations', { identifier: 'action', ...action });
  const hook = { actionConfiguration: 'action', inbox: 'off' };
  await make('incoming-webhooks', { ...hook, pathSegment: 'open' });
  for (let index = 0; index < 10; index += 1) {
    await make('incoming-webhooks', { ...hook, pathSegment: `signed${index}`, secret: 'planted' });
  }
  return server;
}

test('a flood of rejected requests with a thousand headers each leaves room to serve', TIMEOUT,
  () => inFolder(async (data) => {
    const server = await serveWebhooks(data, { actionType: 'log' });
    const headers = Object.fromEntries(
      Array.from({ length: 1300 }, (_, index) => [`k${index.toString(36)}`, 'b']));
    const connection = new RawConnection({ port: Number(new URL(server.url).port) });
    for (let index = 0; index < 1000; index += 1) {
      connection.send(encodeRequest('POST', `/webhook/in/signed${index % 10}`, headers, '{}'));
      assert.equal((await connection.answer()).status, 401);
    }
    connection.close();
    assert.equal((await ask(`${server.url}/api/requests?status=rejected`)).status, 200);
    assert.equal((await server.stop()).code, 0);
  }));

/** Holds its payload until there is a file named `go` in the data directory. */
const HOLDING_ACTION = `
  import { existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  export default class Holding {
    static identifier() { return 'holding'; }
    static label() { return 'Holding'; }
    async execute(payload, context, options, { ActionResult }) {
      while (!existsSync(new URL('../go', import.meta.url))) await setTimeout(10);
      return ActionResult.ok({ count: payload.length });
    }
  }
`;

test('accepted bodies that grow twentyfold are run as far as there is room, at a start too',
  TIMEOUT, () => inFolder(async (data) => {
    mkdirSync(join(data, 'actions'), { mode: 0o700 });
    writeFileSync(join(data, 'actions', 'holding.mjs'), HOLDING_ACTION, { mode: 0o600 });
    const words = ['--data', data, '--max-memory', String(MEGABYTES)];
    const program = [process.execPath, PROGRAM];
    const first = await startServer(words, { program });
    await addRecord(`${first.url}/api/action-configurations`,
      { identifier: 'action', actionType: 'holding' });
    await addRecord(`${first.url}/api/incoming-webhooks`, {
      pathSegment: 'open', actionConfiguration: 'action', answer: 'accepted', inbox: 'all',
    });
    const raw = `[${'[],'.repeat(340_000)}[]]`;
    for (let count = 0; count < 6; count += 1) {
      const { status, text } = await ask(`${first.url}/webhook/in/open`, { method: 'POST', raw });
      assert.equal(status, 200, text);
    }
    await first.stop('SIGKILL');
    const second = await startServer(words, { program });
    const countOf = async (status: string): Promise<number> => {
      const { headers } = await ask(`${second.url}/api/requests?status=${status}&limit=1`);
      return Number(headers['x-total-count']);
    };
    assert.equal(await countOf('pending'), 6);
    writeFileSync(join(data, 'go'), '');
    await until('all have been run', async () => await countOf('done') === 6);
    assert.equal((await second.stop()).code, 0);
  }));
