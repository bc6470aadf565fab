/** What needs a life of another kind: fairness, and a log that was set back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { EtcdRig, PostgresRig } from '../life/engine-rigs.ts';
import type { EngineRig } from '../life/engine-rigs.ts';
import { Life } from '../life/life.ts';
import { nowMs } from '../life/shelf.ts';
import type { Shelf } from '../life/shelf.ts';
import { postgresMissing } from '../support/driver.ts';
import { etcdMissing } from '../support/etcd-cluster.ts';
import { LIFE_MS_MAX, isShort, longOnly, withLife } from './form.ts';

const CONTENTION_MS = isShort ? 15_000 : 60_000;
const LOOPS = 8;
const SHARE_MIN = 0.2;
const WAIT_MS_MAX = 120_000;
/** Books before an old backup, and as many after it as are lost with it. */
const BEFORE = 30;
const LOST = 10;

type Engine = {
  readonly name: string; readonly skip: string | false; readonly start: () => Promise<EngineRig>;
};

const ENGINES: readonly Engine[] = [
  { name: 'PostgreSQL', skip: postgresMissing, start: () => PostgresRig.start(3) },
  { name: 'etcd', skip: etcdMissing, start: () => EtcdRig.start(3) },
];

for (const { name, skip, start } of ENGINES) {
  const options = { skip: skip || (name === 'etcd' && longOnly), timeout: LIFE_MS_MAX };
  test(`${name}: of three writers none gets less than a fifth`, options, async (context) => {
    // So many deliveries would take minutes.
    const alone = { seed: 1, writers: 0, readers: 0, hooks: 0 };
    await withLife({ rig: await start(), ...alone }, async (life) => {
      const endMs = nowMs() + CONTENTION_MS;
      const counts = life.shelves.map(() => 0);
      const write = async (index: number): Promise<void> => {
        while (nowMs() < endMs) {
          const written = await life.workload.create(life.shelf(index));
          if (written.outcome === 'ok') counts[index] = (counts[index] ?? 0) + 1;
        }
      };
      const loops = life.shelves.flatMap((_, index) =>
        Array.from({ length: LOOPS }, () => write(index)));
      await Promise.all(loops);
      const total = counts.reduce((sum, count) => sum + count, 0);
      context.diagnostic(`${name}: ${counts.join(', ')} writes in ${CONTENTION_MS / 1000} s`);
      assert.ok(Math.min(...counts) >= SHARE_MIN * total, counts.join(', '));
    });
  });
}

for (const { name, skip, start } of ENGINES) {
  test(`${name}: nodes take over an old backup that was restored under them`, {
    skip: longOnly || skip, timeout: LIFE_MS_MAX,
  }, async () => {
    const rig = await start();
    const life = await Life.start({ rig, seed: 2, writers: 0, readers: 0 });
    try {
      const { kept, lost } = await restoreOldBackup(life, rig);
      const wanted = [...kept].sort();
      for (const shelf of life.shelves) {
        await until(`${shelf.name} holds the old books and the new ones`, async () => {
          const ids = await idsOf(shelf);
          return ids !== null && JSON.stringify(ids) === JSON.stringify(wanted);
        }, { msMax: WAIT_MS_MAX })
          .catch(async (error: unknown) => {
            const ids = await idsOf(shelf) ?? [];
            const found = lost.filter((id) => ids.includes(id)).length;
            throw new Error(`${String(error)}; ${ids.length} of ${wanted.length}, `
              + `${found} that were lost: ${shelf.log.slice(-3000)}`);
          });
      }
    } finally {
      await life.close();
    }
  });
}

async function idsOf(shelf: Shelf): Promise<string[] | null> {
  const answer = await shelf.ask('GET', '/api/books');
  if (typeof answer === 'string' || answer.status !== 200) return null;
  const books: unknown = JSON.parse(answer.body);
  return Array.isArray(books) ? books.map(({ id }) => String(id)).sort() : null;
}

/**
 * Puts an old backup in the place of what the engine holds. Resolves with the ids of the books that
 * all nodes must hold then, and those that are lost.
 */
async function restoreOldBackup(
  life: Life, rig: EngineRig,
): Promise<{ readonly kept: readonly string[]; readonly lost: readonly string[] }> {
  const [first, second] = [life.shelf(0), life.shelf(1)];
  const before = await createBooks(life, first, BEFORE);
  await rig.backUp();
  const lost = await createBooks(life, first, LOST);
  await rig.restore();
  const after = await createBooks(life, second, LOST);
  return { kept: [...before, ...after], lost };
}

/** Their ids, once all are acknowledged. */
async function createBooks(life: Life, shelf: Shelf, count: number): Promise<string[]> {
  const ids: string[] = [];
  await until(`${count} books at ${shelf.name}`, async () => {
    const { outcome, key } = await life.workload.create(shelf);
    if (outcome === 'ok' && key !== null) ids.push(key);
    return ids.length === count;
  }, { msMax: WAIT_MS_MAX });
  return ids;
}
