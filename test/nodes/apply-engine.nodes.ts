/** `apply` over real engines, with and without a data directory. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ask } from '../e2e/ask.ts';
import { hookshelf, startServer, type Running } from '../e2e/processes.ts';
import type { Ended } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ETCD, POSTGRES, type StartedEngine } from './support/started-engine.ts';

const PATH = '/api/configuration';

/** A document with one configuration and the webhook that uses it. */
const createRecords = (action: string): object => ({
  actionConfigurations: [{ identifier: action, actionType: 'log' }],
  incomingWebhooks: [{ pathSegment: 'p', actionConfiguration: action }],
});

type Place = {
  readonly folder: string;
  start(node: string): Promise<Running>;
  /** Runs `apply` of a document in a data directory of that name. */
  apply(node: string, action: string, ...words: string[]): Promise<Ended>;
};

async function inPlace(engine: StartedEngine, use: (place: Place) => Promise<void>): Promise<void> {
  const environment = { HOOKSHELF_STORE_URL: engine.newLog() };
  const servers: Running[] = [];
  await inFolder(async (folder) => {
    try {
      await use({
        folder,
        async start(node) {
          const server = await startServer(['--data', join(folder, node)], { environment });
          servers.push(server);
          return server;
        },
        apply(node, action, ...words) {
          const path = join(folder, `${randomUUID()}.json`);
          writeFileSync(path, JSON.stringify(createRecords(action)));
          return hookshelf(['apply', '--file', path, '--data', join(folder, node), ...words],
            { environment });
        },
      });
    } finally {
      await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    }
  });
}

/** The identifiers of the configurations that a node has. */
async function read({ url }: Running): Promise<readonly string[]> {
  const { actionConfigurations } = JSON.parse((await ask(url + PATH)).text);
  return actionConfigurations.map(({ identifier }: { identifier: string }) => identifier);
}

const TESTS: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  'a command plans, makes, changes and prunes, and each node has it': async (place) => {
    const one = await place.start('one');
    const planned = await place.apply('one', 'first', '--dry-run');
    assert.deepEqual([planned.code, planned.stderr], [3, '']);
    assert.match(planned.stdout, /^\+ action configuration first\n\+ .*\n= 0 unchanged\n$/);
    assert.deepEqual(await read(one), []);
    const made = await place.apply('one', 'first');
    assert.deepEqual([made.code, made.stderr], [0, '']);
    assert.ok(made.stdout.endsWith('applied: 2 changes\n'), made.stdout);

    const two = await place.start('two');
    assert.deepEqual(await read(two), ['first']);
    const changed = await place.apply('two', 'second', '--prune');
    assert.deepEqual([changed.code, changed.stderr], [0, '']);
    assert.match(changed.stdout, /^- action configuration first$/m);
    await until('the other node has it', async () =>
      (await ask(one.url + PATH)).text === (await ask(two.url + PATH)).text);
    assert.deepEqual(await read(one), ['second']);
  },

  'without a data directory a dry run plans by the engine, and makes none': async (place) => {
    const server = await place.start('one');
    assert.equal((await place.apply('one', 'first')).code, 0);
    for (const [action, code, printed] of [
      ['first', 0, /^= 2 unchanged\n$/], ['second', 3, /^\+ action configuration second\n~ /],
    ] as const) {
      const ended = await place.apply('none', action, '--dry-run');
      assert.deepEqual([ended.code, ended.stderr], [code, '']);
      assert.match(ended.stdout, printed);
      assert.equal(readdirSync(place.folder).includes('none'), false);
    }
    assert.deepEqual(await read(server), ['first']);
    // A command that has no server applies through the engine.
    const applied = await place.apply('other', 'second');
    assert.deepEqual([applied.code, applied.stderr],
      [0, `hookshelf: made a new data directory at ${join(place.folder, 'other')}\n`]);
    await until('the node has it', async () => (await read(server)).length === 2);
  },
};

for (const { name, missing, start } of [POSTGRES, ETCD]) {
  let engine: StartedEngine | null = null;
  before(async () => {
    if (missing === false) engine = await start();
  });
  after(() => engine?.close());
  for (const [claim, run] of Object.entries(TESTS)) {
    test(`${name}: ${claim}`, { skip: missing }, () => {
      assert.ok(engine !== null);
      return inPlace(engine, run);
    });
  }
}
