/**
 * Nodes of one release and the next over one log, restarted one after the other. The next one is a
 * copy of the program that knows more: another collection, another member of books and of nodes,
 * another version; or one that reads logs of another format.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../src/nodes/node-routes.ts';
import { until } from '../../support/until.ts';
import { PostgresRig } from '../life/engine-rigs.ts';
import type { Life } from '../life/life.ts';
import type { Answer, Shelf } from '../life/shelf.ts';
import { withBuild, type Edit } from '../support/changed-build.ts';
import { postgresMissing } from '../support/driver.ts';
import { LIFE_MS_MAX, longOnly, withLife } from './form.ts';
import { compact } from './node-faults.ts';

const NEXT_VERSION = '99.0.0';
/** A release that knows more: another collection, another member of books and of nodes. */
const NEXT_RELEASE: readonly Edit[] = [
  ['base/version.ts', "VERSION = '", `VERSION = '${NEXT_VERSION}' || '`],
  ['app.ts', '[bookResource.collection,', "[{ name: 'n', key: 'id' }, bookResource.collection,"],
  ['app/nodes.ts', 'describeNode: () => ({', "describeNode: () => ({ zone: 'a', "],
  ['books/book.ts', 'subtitle: {', "shelfmark: { schema: { kind: 'string' } }, subtitle: {"],
];
/** A release that reads logs of another format. */
const NEXT_FORMAT: readonly Edit[] = [
  ...NEXT_RELEASE, ['store/replication/log-entry.ts', 'LOG_FORMAT = 2', 'LOG_FORMAT = 3'],
];

const OPTIONS = { skip: longOnly || postgresMissing, timeout: LIFE_MS_MAX };
const WRITES = 40;
const WAIT_MS_MAX = 60_000;

test('nodes are upgraded one after the other, and one goes back', OPTIONS, () =>
  withBuild(NEXT_RELEASE, async (next) => {
    const rig = await PostgresRig.start(3);
    await withLife({ rig, seed: 3, readers: 0 }, async (life) => {
      const [first, second, third] = [life.shelf(0), life.shelf(1), life.shelf(2)];
      await life.progress(WRITES);
      await life.disturb(() => exchange(first, next));
      await writeWhatIsNew(life, first, second);
      await life.progress(WRITES);
      await compact(first);
      // One of the release before starts from what a newer one has left in the engine.
      await life.disturb(async () => {
        await second.stop();
        second.forget();
        await second.startReady();
      });
      await life.progress(WRITES);
      assert.equal((await versionsAt(second)).filter((one) => one === NEXT_VERSION).length, 1);
      await life.disturb(() => exchange(second, next));
      await life.disturb(() => exchange(third, next));
      await life.progress(WRITES);
      assert.deepEqual(await versionsAt(third), life.shelves.map(() => NEXT_VERSION));
      await life.disturb(() => exchange(first, undefined));
      await life.progress(WRITES);
    });
  }));

test('a node of another format is refused with a sentence, and the others go on', OPTIONS, () =>
  withBuild(NEXT_FORMAT, async (next) => {
    const rig = await PostgresRig.start(3);
    await withLife({ rig, seed: 4, readers: 0 }, async (life) => {
      const first = life.shelf(0);
      await life.progress(WRITES);
      await first.stop();
      first.upgrade(next);
      await assert.rejects(first.start(), /format of the log is 2, and this version reads 3 alone/);
      await life.progress(WRITES);
      await life.disturb(() => exchange(first, undefined));
      await life.progress(WRITES);
    });
  }));

test('nodes stop at a log that has got another format', OPTIONS, async () => {
  const rig = await PostgresRig.start(2);
  // Without emitters: while no node takes writes, no delayed event can begin in its place.
  await withLife({ rig, seed: 4, readers: 0, emitters: 0 }, async (life) => {
    await life.progress(WRITES);
    rig.primary.query('update hookshelf.head set format = 3');
    for (const shelf of life.shelves) {
      await until(`${shelf.name} has stopped`, async () => !await shelf.isReady(),
        { msMax: WAIT_MS_MAX });
      const { status, body } = await answerOf(shelf, 'GET', '/readyz');
      assert.ok(status === 503 && body.includes('the format of the log is 3'), body);
      assert.equal((await answerOf(shelf, 'GET', '/api/books?limit=1')).status, 200);
      assert.equal((await life.workload.create(shelf)).refusal, 'unavailable');
    }
    rig.primary.query('update hookshelf.head set format = 2');
    await life.disturb(async () => {
      for (const shelf of life.shelves) await exchange(shelf, undefined);
    });
    await life.progress(WRITES);
  });
});

async function exchange(shelf: Shelf, program: string | undefined): Promise<void> {
  await shelf.stop();
  shelf.upgrade(program);
  await shelf.startReady();
}

/** The release before shows what it does not know, and does not lose it. */
async function writeWhatIsNew({ workload }: Life, newer: Shelf, older: Shelf): Promise<void> {
  const { key, sequence } = await workload.create(newer, { shelfmark: 'A1' });
  const path = `/api/books/${key}`;
  const shown = await older.ask('GET', path, undefined, { 'hookshelf-sequence': `${sequence}` });
  assert.ok(typeof shown !== 'string' && shown.body.includes('"shelfmark":"A1"'));
  const patched = await answerOf(older, 'PATCH', path, { subtitle: 's' });
  assert.ok(patched.status === 422 && patched.body.includes('/shelfmark'), patched.body);
}

async function versionsAt(shelf: Shelf): Promise<readonly string[]> {
  const { body } = await answerOf(shelf, 'GET', '/api/nodes');
  const nodes: readonly NodeView[] = JSON.parse(body);
  return nodes.map(({ version }) => version);
}

async function answerOf(
  shelf: Shelf, method: string, path: string, body?: unknown,
): Promise<Answer> {
  const answer = await shelf.ask(method, path, body);
  assert.ok(typeof answer !== 'string', `${path} of ${shelf.name}`);
  return answer;
}
