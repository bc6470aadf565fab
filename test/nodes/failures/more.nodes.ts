/** What needs a life of another kind: fairness, and a log that was set back. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../support/children.ts';
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
const BEFORE = 30;
const AFTER = 10;

type Engine = {
  readonly name: string; readonly skip: string | false; readonly start: () => Promise<EngineRig>;
};

const ENGINES: readonly Engine[] = [
  { name: 'PostgreSQL', skip: postgresMissing, start: () => PostgresRig.start(3) },
  { name: 'etcd', skip: etcdMissing, start: () => EtcdRig.start(3) },
];

for (const { name, skip, start } of ENGINES) {
  const options = { skip, timeout: LIFE_MS_MAX };
  test(`${name}: of three writers none gets less than a fifth`, options, async (context) => {
    // So many deliveries would take minutes.
    const alone = { seed: 1, writers: 0, readers: 0, hooks: 0 };
    await withLife({ rig: await start(), ...alone }, async (life) => {
      const endMs = nowMs() + CONTENTION_MS;
      const counts = life.shelves.map(() => 0);
      const write = async (index: number): Promise<void> => {
        while (nowMs() < endMs) {
          const written = await life.workload.create(life.shelf(index));
          if (written?.outcome === 'ok') counts[index] = (counts[index] ?? 0) + 1;
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

test('PostgreSQL: nodes take over an old backup that was restored under them', {
  skip: longOnly || postgresMissing, timeout: LIFE_MS_MAX,
}, async () => {
  const rig = await PostgresRig.start(3);
  const life = await Life.start({ rig, seed: 2, writers: 0, readers: 0 });
  try {
    const first = life.shelf(0);
    const before = await createBooks(life, first, BEFORE);
    const { servers } = rig.cluster;
    const restart = async (): Promise<void> => {
      for (const server of servers) await server.start();
    };
    for (const server of servers) await server.kill('SIGINT');
    for (const { data } of servers) copy(data, `${data}.old`);
    await restart();
    const lost = await createBooks(life, first, AFTER);
    for (const server of servers) await server.kill();
    for (const { data } of servers) {
      rmSync(data, { recursive: true });
      copy(`${data}.old`, data);
    }
    await restart();
    const after = await createBooks(life, life.shelf(1), AFTER);
    const wanted = [...before, ...after].sort();
    for (const shelf of life.shelves) {
      await until(async () => {
        const ids = await idsOf(shelf);
        return ids !== null && JSON.stringify(ids) === JSON.stringify(wanted);
      }, `${shelf.name} holds the old books and the new ones`, WAIT_MS_MAX)
        .catch(async (error: unknown) => {
          const ids = await idsOf(shelf) ?? [];
          const kept = lost.filter((id) => ids.includes(id)).length;
          throw new Error(`${String(error)}; ${ids.length} of ${wanted.length}, `
            + `${kept} that were lost: ${shelf.log.slice(-3000)}`);
        });
    }
  } finally {
    await life.close();
  }
});

/** Their ids, once all are acknowledged. */
async function createBooks(life: Life, shelf: Shelf, count: number): Promise<string[]> {
  const ids: string[] = [];
  await until(async () => {
    const write = await life.workload.create(shelf);
    if (write?.outcome === 'ok' && write.key !== null) ids.push(write.key);
    return ids.length === count;
  }, `${count} books at ${shelf.name}`, WAIT_MS_MAX);
  return ids;
}

async function idsOf(shelf: Shelf): Promise<string[] | null> {
  const answer = await shelf.ask('GET', '/api/books');
  if (typeof answer === 'string' || answer.status !== 200) return null;
  const books: unknown = JSON.parse(answer.body);
  return Array.isArray(books) ? books.map(({ id }) => String(id)).sort() : null;
}

function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
