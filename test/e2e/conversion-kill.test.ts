/**
 * Real processes: a data directory of a release before 1.1 is converted and worked off by a server
 * that is killed with -9 again and again on its way. What had been accepted is done, what had been
 * done is not done again, and the books are right.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COLLECTIONS } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import { openStore } from '../../src/store/store.ts';
import { IS_LONG } from '../support/long.ts';
import { toOldFormat } from '../support/old-format.ts';
import { createRandom } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { putOldRecords, type OldWork } from '../webhooks/old-records.ts';
import { addRecord } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';
import { FlappingTarget, type Arrival } from './relay-target.ts';
import { Survivor } from './survivor.ts';

const SEED = 20261127;
const KILLS = IS_LONG ? 20 : 4;
/** Of each form of old records. */
const COUNT = IS_LONG ? 600 : 150;
/** What the server writes in a life before it is killed, at most. */
const LIFE_BYTES_MAX = IS_LONG ? 60_000 : 80_000;
const ROUTES = ['first', 'second'] as const;
const SCHEDULE = JSON.stringify(Array(100).fill(0.2));
const SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: SCHEDULE, HOOKSHELF_INCOMING_RETRY_SCHEDULE: SCHEDULE,
  // Old records would age out.
  HOOKSHELF_OUTGOING_RETENTION_DAYS: '3650', HOOKSHELF_OUTGOING_FAILED_RETENTION_DAYS: '3650',
  HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000', HOOKSHELF_INBOX_RETENTION_DAYS: '3650',
};

/** Has this release make the webhooks and put the records, and rewrites its files as older ones. */
async function createOldDirectory(data: string, target: FlappingTarget): Promise<OldWork> {
  const { url, stop } = await startServer(['--data', data]);
  const hook = { triggerEvent: 'thing.*', secret: 's' };
  const hooks = [
    await addRecord(`${url}/api/outgoing-webhooks`, { ...hook, targetUrl: `${target.url}one` }),
    await addRecord(`${url}/api/outgoing-webhooks`, { ...hook, targetUrl: `${target.url}two` }),
  ] as const;
  for (const identifier of ROUTES) {
    await addRecord(`${url}/api/action-configurations`, {
      identifier, actionType: 'http-forward', options: { url: `${target.url}${identifier}` },
    });
  }
  const incoming = await addRecord(`${url}/api/incoming-webhooks`, {
    pathSegment: 'inbox', inbox: 'all', answer: 'accepted',
    routes: ROUTES.map((name) => ({ name, actionConfiguration: name })),
  });
  await stop();
  const store = await openStore({
    directory: data, files: createNodeFiles(), specs: COLLECTIONS, logger: silentLogger,
    clock: systemClock,
  });
  const forwardUrl = `${target.url}forward`;
  const work = await putOldRecords(store, { hooks, forwardUrl, incoming, routes: ROUTES }, COUNT);
  await store.close();
  for (const name of readdirSync(data).filter((file) => /\.jsonl?$/.test(file))) {
    writeFileSync(join(data, name), toOldFormat(name, readFileSync(join(data, name))));
  }
  return work;
}

/** The bytes of all journals. */
function countBytes(data: string): number {
  return readdirSync(data).filter((name) => name.startsWith('journal-'))
    .reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
}

test('a data directory of an older release is converted and done through kills', () =>
  inFolder(async (data) => {
    const target = new FlappingTarget();
    await target.open();
    const server = new Survivor(data, SETTINGS);
    try {
      const work = await createOldDirectory(data, target);
      const random = createRandom(SEED);
      await target.turn('slow');
      for (let life = 0; life < KILLS; life += 1) {
        const bound = countBytes(data) + Math.round(random() * LIFE_BYTES_MAX);
        await server.start();
        await until('it has written so much', () => countBytes(data) >= bound);
        await server.stop('SIGKILL');
      }
      await target.turn('up');
      await server.start();
      await checkBooks(server, work);
      checkSent(target, work);
      await server.stop('SIGKILL');
      const { length } = target.arrived;
      await server.start();
      await checkBooks(server, work);
      assert.equal(target.arrived.length, length, 'nothing is sent again');
      await server.stop('SIGTERM');
      const { code, stderr } = await hookshelf(['data:verify', '--data', data]);
      assert.equal(code, 0, stderr);
    } finally {
      await server.stop('SIGKILL');
      await target.close();
    }
  }));

async function checkBooks(server: Survivor, { deliveries, requests }: OldWork): Promise<void> {
  const done = await server.drain('requests');
  assert.deepEqual([done['problems'], done['accepted'], done['done'], done['pending']],
    [[], requests.length, requests.length, 0]);
  const totals = await server.drain();
  const count = (status: string): number =>
    deliveries.filter((delivery) => delivery.status === status).length;
  assert.deepEqual(
    ['problems', 'accepted', 'delivered', 'failed', 'cancelled', 'pending']
      .map((name) => totals[name]),
    [[], deliveries.length, count('delivered') + count('pending'), count('failed'),
      count('cancelled'), 0]);
}

/** What was pending came, at most once for each life, and nothing else did. */
function checkSent(
  { arrived, bodiesById }: FlappingTarget, { deliveries, requests }: OldWork,
): void {
  const times = new Map<string, number>();
  for (const arrival of arrived) {
    const name = nameOf(arrival);
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  const due = [
    ...deliveries.filter(({ status }) => status === 'pending').map(({ id, isForward, body }) =>
      isForward ? `forward ${body}` : id),
    ...requests.flatMap(({ id, pending }) => pending.map((route) => `${id} /${route}`)),
  ];
  assert.deepEqual([...times.keys()].sort(), due.sort());
  assert.ok([...times.values()].every((count) => count <= KILLS + 1));
  // A kill repeats what was under way, and no more.
  assert.ok(arrived.length - due.length <= KILLS * 64, `${arrived.length} of ${due.length}`);
  for (const { id, body } of deliveries) {
    assert.deepEqual([...bodiesById.get(id) ?? [body]], [body]);
  }
}

/** Says of which delivery or route it is; a forward is told by its body alone. */
function nameOf({ path, id, body, headers }: Arrival): string {
  if (id !== '') return id;
  if (path === '/forward') return `forward ${body}`;
  return `${String(headers['x-hookshelf-request'])} ${path}`;
}
