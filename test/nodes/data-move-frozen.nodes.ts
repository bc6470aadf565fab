/**
 * A node stands still while its log is moved: nothing that it acknowledged is lost, and once it
 * wakes it acknowledges nothing any more. With real processes over real engines.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hookshelf } from '../e2e/processes.ts';
import { until } from '../support/until.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { longOnly } from './failures/form.ts';
import { Shelf } from './life/shelf.ts';
import { ETCD, POSTGRES } from './support/started-engine.ts';

const CLIENTS = 8;
const ACKNOWLEDGED_BEFORE = 200;
const REFUSED_MAX = 40;
const LOOK_MS = 1000;
const WAIT_MS = 60_000;
/** Above what a frozen node and the pauses of the move take. */
const TEST_MS = 240_000;

const ENGINES = [POSTGRES, { ...ETCD, missing: ETCD.missing || longOnly }];

for (const { name, missing, start } of ENGINES) {
  test(`what a frozen node has acknowledged moves along, and it acknowledges no more (${name})`,
    { skip: missing, timeout: TEST_MS }, async () => {
      const folder = createTemporaryFolder();
      const engine = await start();
      const [from, to] = [engine.newLog(), engine.newLog()];
      const shelfOf = (shelf: string, url: string): Shelf => new Shelf({
        name: shelf, directory: join(folder, shelf), environment: { HOOKSHELF_STORE_URL: url },
      });
      const [frozen, other] = [shelfOf('n0', from), shelfOf('n1', from)];
      const target = shelfOf('n2', to);
      try {
        await frozen.startReady();
        await other.startReady();
        const clients = new Clients(frozen);
        await until('writes', () => clients.acknowledged.size >= ACKNOWLEDGED_BEFORE,
          { msMax: WAIT_MS });
        frozen.freeze();
        clients.stop();
        await other.stop();
        await moveOnceLeasesAreOver(join(folder, 'command'), from, to);
        await target.startReady();
        await wake(frozen, clients, target);
        await assert.rejects(async () => {
          await frozen.stop();
          await frozen.start();
        }, /the log was closed at .*when data:move brought its records to /);
      } finally {
        for (const shelf of [frozen, other, target]) await shelf.stop('SIGKILL');
        await engine.close();
      }
    });
}

/** The frozen node has released nothing: while its lease has not run out the move is refused. */
async function moveOnceLeasesAreOver(data: string, from: string, to: string): Promise<void> {
  const words = ['data:move', '--to', to, '--data', data];
  for (let refused = 0; ; refused += 1) {
    const { code, stdout, stderr } = await hookshelf(words,
      { environment: { HOOKSHELF_STORE_URL: from } });
    if (code === 0) {
      assert.ok(refused > 0, 'it was refused while the lease had not run out');
      assert.match(stderr, /did not stop cleanly: waiting up to \d+ s/);
      assert.match(stdout, /is closed: it keeps what it has/);
      return;
    }
    assert.match(stderr, /the lease of node [0-9a-f-]{36}.* has not run out: stop all nodes/);
    assert.ok(refused < REFUSED_MAX, stderr);
    await delay(LOOK_MS);
  }
}

/** Requests lie in its sockets, and more come: it has not heard of the end of the log yet. */
async function wake(frozen: Shelf, clients: Clients, target: Shelf): Promise<void> {
  const asked = Array.from({ length: CLIENTS }, (_, index) => frozen.ask('POST', '/api/books',
    { title: `woken ${index}` }));
  frozen.thaw();
  for (const answer of await Promise.all(asked)) {
    assert.ok(typeof answer !== 'string' && answer.status === 503, JSON.stringify(answer));
    assert.match(answer.body, /the log was closed at .*records to .*: go on there/);
  }
  await until('it is not ready', async () => !await frozen.isReady(), { msMax: WAIT_MS });
  let lastRead = '';
  await until('it reads on', async () => {
    const read = await frozen.ask('GET', '/api/books?limit=1');
    lastRead = JSON.stringify(read);
    return typeof read !== 'string' && read.status === 200;
  }, { msMax: WAIT_MS, seen: () => `${lastRead}\n${frozen.log.slice(-3000)}` });
  await clients.ended;
  const listed = await target.ask('GET', '/api/books');
  assert.ok(typeof listed !== 'string' && listed.status === 200, JSON.stringify(listed));
  for (const title of clients.acknowledged) {
    assert.ok(listed.body.includes(`"${title}"`), `${title} was acknowledged, and is not there`);
  }
  assert.ok(!listed.body.includes('woken'), 'what was refused is not there');
}

/**
 * They write all the time until they are stopped. What is under way when the node is frozen waits
 * for as long as that takes: a write that was committed before may be acknowledged once it wakes.
 */
class Clients {
  readonly acknowledged = new Set<string>();
  readonly ended: Promise<unknown>;
  #isStopped = false;

  constructor(shelf: Shelf) {
    this.ended = Promise.all(Array.from({ length: CLIENTS }, (_, client) =>
      this.#write(shelf, client)));
  }

  /** What is under way goes on. */
  stop(): void {
    this.#isStopped = true;
  }

  async #write(shelf: Shelf, client: number): Promise<void> {
    for (let index = 0; !this.#isStopped; index += 1) {
      const title = `book ${client}-${index}-`;
      const { status } = await fetch(`${shelf.url}/api/books`, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ title }),
      });
      if (status === 201) this.acknowledged.add(title);
      else assert.equal(status, 503);
    }
  }
}
