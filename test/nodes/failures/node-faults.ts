/** What is done to nodes and to their links; the same on every engine. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { hookshelf } from '../../e2e/processes.ts';
import { until } from '../../support/until.ts';
import type { Life } from '../life/life.ts';
import type { Shelf } from '../life/shelf.ts';
import { isShort } from './form.ts';

export type Fault<Rig> = (life: Life, rig: Rig) => Promise<unknown>;

const WAIT_MS_MAX = 60_000;
const SPRING_MS_MAX = 30_000;
/** `/readyz` says so 5 s after the engine was last heard. */
const NOT_READY_MS_MAX = 20_000;
const FROZEN_MS = isShort ? 20_000 : 30_000;
const HOUR_MS = 3_600_000;
/** A module that moves the wall clock, as an option of Node. */
const clockMovedBy = (ms: number): string => `--import=data:text/javascript,${encodeURIComponent(`
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) { super(...given.length === 0 ? [Real.now() + ${ms}] : given); }
    static now() { return Real.now() + ${ms}; }
  };`)}`;

export const NODE_FAULTS: Readonly<Record<string, Fault<unknown>>> = {
  'a node is killed just after it sent a commit': (life) => killAfterCommit(life, 'sent'),
  'a node is killed before it hears of its commit': (life) => killAfterCommit(life, 'answered'),
  'connections are cut just after a commit': (life) => cutCommits(life, 'sent'),
  'connections are cut before the answer to a commit': (life) => cutCommits(life, 'answered'),
  'a node is killed in the middle of attempts': killInAttempt,
  'a node stops cleanly and comes back': async (life) => {
    await life.shelf(1).stop('SIGTERM');
    await life.progress(50);
    await life.shelf(1).start();
  },
  'all nodes are killed at once': async (life) => {
    await Promise.all(life.shelves.map((shelf) => shelf.stop('SIGKILL')));
    await Promise.all(life.shelves.map((shelf) => shelf.start()));
  },
  'a node is cut off from the engine': (life) => cutOff(life, ['toServer', 'toClient']),
  'a node hears nothing of the engine, which hears it': (life) => cutOff(life, ['toClient']),
  'the engine hears nothing of a node, which hears it': (life) => cutOff(life, ['toServer']),
  'every link is slow': async (life) => {
    for (const proxy of proxiesOf(life)) proxy.delayMs = 30;
    await life.progress(60);
    for (const proxy of proxiesOf(life)) proxy.heal();
  },
  'all connections are reset, again and again': async (life) => {
    for (let round = 0; round < 8; round += 1) {
      for (const proxy of proxiesOf(life)) proxy.reset();
      await delay(150);
    }
  },
  'an owner of deliveries stands still': async (life) => {
    await life.freeze(life.shelf(0), FROZEN_MS);
  },
  'the log is trimmed while a node is away': async (life) => {
    await life.shelf(2).stop('SIGKILL');
    for (let round = 0; round < 3; round += 1) {
      await life.progress(30);
      await compact(life.shelf(0));
    }
    await life.shelf(2).start();
  },
  'a node is killed in the middle of a snapshot': killInSnapshot,
  'the clock of a node is an hour ahead': (life) => moveClock(life, HOUR_MS),
  'the clock of a node is an hour behind': (life) => moveClock(life, -HOUR_MS),
};

async function killAfterCommit(life: Life, moment: 'sent' | 'answered'): Promise<void> {
  const shelf = life.shelf(1);
  const sprung = Promise.race(life.rig.proxies(1).map((proxy) => proxy.cutNextCommit(moment)));
  await within(sprung, 'a commit of that node');
  await shelf.stop('SIGKILL');
  for (const proxy of life.rig.proxies(1)) proxy.heal();
  await life.progress(30);
  await shelf.start();
}

async function cutCommits(life: Life, moment: 'sent' | 'answered'): Promise<void> {
  for (let round = 0; round < (isShort ? 3 : 8); round += 1) {
    const node = round % life.shelves.length;
    const proxies = life.rig.proxies(node);
    await within(Promise.race(proxies.map((proxy) => proxy.cutNextCommit(moment))), 'a commit');
    for (const proxy of proxies) proxy.heal();
  }
}

async function killInAttempt(life: Life): Promise<void> {
  const { receiver } = life;
  receiver.slowMs = 3000;
  await until('attempts are under way',
    () => receiver.attempts.filter(({ endMs }) => endMs === Infinity).length > 6,
    { msMax: WAIT_MS_MAX });
  await life.shelf(2).stop('SIGKILL');
  receiver.slowMs = 20;
  await life.progress(30);
  await life.shelf(2).start();
}

async function cutOff(life: Life, ways: readonly ('toServer' | 'toClient')[]): Promise<void> {
  const shelf = life.shelf(0);
  const proxies = life.rig.proxies(0);
  for (const proxy of proxies) proxy.hold(...ways);
  await until('a node that hears nothing is not ready', async () => {
    await delay(100);
    return !await shelf.isReady();
  }, { msMax: NOT_READY_MS_MAX });
  const read = await shelf.ask('GET', '/api/books?limit=1');
  assert.ok(typeof read !== 'string' && read.status === 200, 'reads go on');
  await life.progress(30);
  for (const proxy of proxies) proxy.heal();
}

/** When a part was sent to the engine, and nothing after it. */
async function killInSnapshot(life: Life): Promise<void> {
  const shelf = life.shelf(0);
  const proxies = life.rig.proxies(0);
  const sent = Promise.race(proxies.map((proxy) => proxy.holdAfter(life.rig.snapshotPart)));
  const compacted = compact(shelf).then(() => 'done', () => 'not done');
  await within(sent, 'a part of a snapshot');
  for (const proxy of proxies) proxy.hold('toServer', 'toClient');
  await shelf.stop('SIGKILL');
  assert.equal(await compacted, 'not done');
  for (const proxy of proxies) proxy.heal();
  await life.progress(20);
  await shelf.start();
  await shelf.ready();
  await compact(shelf);
}

async function moveClock(life: Life, ms: number): Promise<void> {
  const shelf = life.shelf(2);
  life.moveClock(ms);
  await shelf.stop('SIGKILL');
  shelf.set({ NODE_OPTIONS: clockMovedBy(ms) });
  await shelf.start();
  await shelf.ready();
  await life.progress(50);
  // After three of its beats, or of the others' where it is the one that is behind.
  await until('the clock that is off is warned of',
    () => life.shelves.some(({ log }) => /clock of another node is more than/.test(log)),
    { msMax: WAIT_MS_MAX });
}

export async function compact({ directory }: Shelf): Promise<void> {
  const { code, stderr } = await hookshelf(['data:compact', '--data', directory]);
  assert.equal(code, 0, stderr);
}

function proxiesOf(life: Life): readonly ReturnType<Life['rig']['proxies']>[number][] {
  return life.shelves.flatMap((_, index) => life.rig.proxies(index));
}

async function within(happened: Promise<void>, what: string): Promise<void> {
  let isSo = false;
  void happened.then(() => void (isSo = true));
  await until(what, () => isSo, { msMax: SPRING_MS_MAX });
}
