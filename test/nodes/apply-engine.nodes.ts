/** `apply` over real engines: planned, done, refused, twice at once, and cut off by kill -9. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Reply } from '../e2e/ask.ts';
import { hookshelf, startServer, type Running } from '../e2e/processes.ts';
import type { Ended } from '../support/children.ts';
import {
  NUMBERED_CHANGES, NUMBERED_RECORDS, numberedDocument, readNumber,
} from '../support/numbered-document.ts';
import { createRandom } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ETCD, POSTGRES, type StartedEngine } from './support/started-engine.ts';

const PATH = '/api/configuration';
const SEED = 20261127;
const KILLS = process.env['NODES_FORM'] === 'long' ? 12 : 4;
/** Long enough that a kill may come while the engine is sent an apply. */
const PADDING = 'x'.repeat(400);

type Place = {
  readonly folder: string;
  start(node: string): Promise<Running>;
  /** Runs `apply` of records in a data directory of that name. */
  apply(node: string, records: object, ...words: string[]): Promise<Ended>;
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
        apply(node, records, ...words) {
          const path = join(folder, `${randomUUID()}.json`);
          writeFileSync(path, JSON.stringify(records));
          return hookshelf(['apply', '--file', path, '--data', join(folder, node), ...words],
            { environment });
        },
      });
    } finally {
      await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    }
  });
}

function put(
  { url }: Running, document: object, headers: Record<string, string> = {},
): Promise<Reply> {
  return ask(url + PATH, { method: 'PUT', body: document, headers });
}

/** The number of what a node has stored; it fails when the records are of several documents. */
async function read({ url }: Running, description = ''): Promise<number> {
  return readNumber((await ask(url + PATH)).text, description);
}

const createRecords = (number: number): object => {
  const { prune: _, ...records } = numberedDocument(number) as { prune: unknown };
  return records;
};

type EngineTest = (place: Place) => Promise<void>;

const TESTS: Readonly<Record<string, EngineTest>> = {
  'a command plans, makes, changes and prunes, and each node has it': async (place) => {
    const one = await place.start('one');
    const planned = await place.apply('one', createRecords(1), '--dry-run');
    assert.deepEqual([planned.code, planned.stderr], [3, '']);
    assert.match(planned.stdout, /^\+ action configuration run-1\n(\+ .*\n){21}= 0 unchanged\n$/);
    assert.deepEqual(JSON.parse((await ask(one.url + PATH)).text).incomingWebhooks ?? [], []);
    const made = await place.apply('one', createRecords(1));
    assert.deepEqual([made.code, made.stderr], [0, '']);
    assert.ok(made.stdout.endsWith(`applied: ${NUMBERED_RECORDS} changes\n`), made.stdout);
    const same = await place.apply('one', createRecords(1), '--dry-run');
    assert.deepEqual([same.code, same.stdout], [0, `= ${NUMBERED_RECORDS} unchanged\n`]);

    const two = await place.start('two');
    assert.equal(await read(two), 1);
    const changed = await place.apply('two', createRecords(2), '--prune');
    assert.deepEqual([changed.code, changed.stderr], [0, '']);
    assert.match(changed.stdout, /^- action configuration run-1$/m);
    assert.match(changed.stdout, /^~ incoming webhook p0\n    name: "n1" → "n2"\n/m);
    assert.ok(changed.stdout.endsWith(`applied: ${NUMBERED_CHANGES} changes\n`), changed.stdout);
    await until('the other node has it', async () =>
      (await ask(one.url + PATH)).text === (await ask(two.url + PATH)).text);
    assert.equal(await read(one), 2);
  },

  'without a data directory a dry run plans by the engine, and makes none': async (place) => {
    const server = await place.start('one');
    assert.equal((await put(server, createRecords(1))).status, 200);
    for (const [number, code, printed] of [
      [1, 0, new RegExp(`^= ${NUMBERED_RECORDS} unchanged\n$`)],
      [2, 3, /^\+ action configuration run-2\n~ incoming webhook p0\n/],
    ] as const) {
      const ended = await place.apply('none', createRecords(number), '--dry-run');
      assert.deepEqual([ended.code, ended.stderr], [code, '']);
      assert.match(ended.stdout, printed);
      assert.equal(readdirSync(place.folder).includes('none'), false);
    }
    assert.equal(await read(server), 1);
    // A command that has no server applies through the engine.
    const applied = await place.apply('other', createRecords(2));
    assert.deepEqual([applied.code, applied.stderr], [0, '']);
    await until('the node has it', async () =>
      JSON.parse((await ask(server.url + PATH)).text).actionConfigurations.length === 2);
  },

  'a document with one wrong record is refused whole': async (place) => {
    const server = await place.start('one');
    assert.equal((await put(server, numberedDocument(1))).status, 200);
    const { headers: { etag } } = await ask(server.url + PATH);
    const records = createRecords(2) as { readonly incomingWebhooks: readonly object[] };
    const wrong = {
      ...records,
      incomingWebhooks: [...records.incomingWebhooks,
        { pathSegment: 'last', actionConfiguration: 'nobody' }],
    };
    const refused = await place.apply('one', wrong, '--prune');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /\/incomingWebhooks\/20\/actionConfiguration: there is no action/);
    assert.equal(await read(server), 1);
    assert.equal((await ask(server.url + PATH)).headers['etag'], etag);
  },

  'of two nodes that apply at once, one is last, whole; with If-Match only one is done':
  async (place) => {
    const servers = [await place.start('one'), await place.start('two')] as const;
    const [first, second] = servers;
    assert.equal((await put(first, numberedDocument(0))).status, 200);
    const settle = async (): Promise<number> => {
      const tags = async (): Promise<readonly unknown[]> => Promise.all(
        servers.map(async ({ url }) => (await ask(url + PATH)).headers['etag']));
      await until('both show the same', async () => new Set(await tags()).size === 1);
      assert.equal(await read(first), await read(second));
      return read(first);
    };
    for (let round = 1; round <= 5; round += 1) {
      const numbers = [10 * round, 10 * round + 1];
      const replies = await Promise.all(servers.map((server, index) =>
        put(server, numberedDocument(numbers[index] ?? 0))));
      for (const { status, text } of replies) assert.equal(status, 200, text);
      assert.ok(numbers.includes(await settle()));
    }
    for (let round = 1; round <= 3; round += 1) {
      const { headers: { etag } } = await ask(first.url + PATH);
      const replies = await Promise.all(servers.map((server, index) =>
        put(server, numberedDocument(100 * round + index), { 'If-Match': String(etag) })));
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 412]);
      const winner = replies.findIndex(({ status }) => status === 200);
      assert.equal(await settle(), 100 * round + winner);
      assert.equal((await ask(first.url + PATH)).headers['etag'], replies[winner]?.headers['etag']);
    }
  },

  'kill -9 of the node amid applies leaves the last one that was answered, or the next, whole':
  async (place) => {
    const random = createRandom(SEED);
    const other = await place.start('other');
    let server = await place.start('killed');
    let number = 0;
    assert.equal((await put(server, numberedDocument(number, PADDING))).status, 200);
    for (let kill = 0; kill < KILLS; kill += 1) {
      let isKilled = false;
      const applies = (async (): Promise<void> => {
        while (!isKilled) {
          const reply = await put(server, numberedDocument(number + 1, PADDING)).catch(() => null);
          if (reply === null) return;
          assert.equal(reply.status, 200, reply.text);
          number += 1;
        }
      })();
      await pause(100 + random() * 200);
      isKilled = true;
      await server.stop('SIGKILL');
      await applies;
      server = await place.start('killed');
      const found = await read(server, PADDING);
      assert.ok(found === number || found === number + 1, `${found} after ${number}`);
      await until('the node beside it has the same', async () =>
        await read(other, PADDING) === found);
      number = found;
    }
    assert.equal((await put(other, numberedDocument(number + 1, PADDING))).status, 200);
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
