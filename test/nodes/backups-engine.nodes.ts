/** Backups that nodes make by themselves over real engines: one node at a time makes them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addRecord, ask } from '../e2e/ask.ts';
import { hookshelf, startServer, type Running } from '../e2e/processes.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { longOnly } from './failures/form.ts';
import { ETCD, POSTGRES } from './support/started-engine.ts';

const listBackups = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.tar')).sort() : [];

/** The nodes that have made a backup, as their logs say. */
const findMakers = (nodes: readonly Running[]): readonly Running[] =>
  nodes.filter(({ stderr }) => stderr().includes('backed up, and verified'));

async function restoreTitles(folder: string, to: string): Promise<readonly string[]> {
  const [name = ''] = listBackups(to).slice(-1);
  const fresh = ['--data', join(folder, `fresh-${randomUUID()}`)];
  const restored = await hookshelf(['data:restore', '--from', join(to, name), ...fresh]);
  assert.equal(restored.code, 0, restored.stderr);
  const listed = await hookshelf(['book:list', '--json', ...fresh]);
  return JSON.parse(listed.stdout).map(({ title }: { readonly title: string }) => title);
}

const ENGINES = [POSTGRES, { ...ETCD, missing: ETCD.missing || longOnly }];

for (const { name, missing, start } of ENGINES) {
  test(`${name}: one of two nodes makes the backups, and the other once that one is gone`,
    { skip: missing }, () => inFolder(async (folder) => {
      const engine = await start();
      const to = join(folder, 'backups');
      const environment = {
        HOOKSHELF_STORE_URL: engine.newLog(),
        HOOKSHELF_BACKUP_TO: to, HOOKSHELF_BACKUP_EVERY_HOURS: '0.0006',
      };
      const nodes: Running[] = [];
      try {
        for (const node of ['one', 'two']) {
          nodes.push(await startServer(['--data', join(folder, node)], { environment }));
        }
        await addRecord(`${nodes[1]?.url}/api/books`, { title: 'Emma' });
        const count = listBackups(to).length;
        await until('two more are made', () => listBackups(to).length >= count + 2);
        const [maker, ...more] = findMakers(nodes);
        assert.ok(maker !== undefined && more.length === 0, 'one node makes them');
        assert.deepEqual(await restoreTitles(folder, to), ['Emma']);
        const other = nodes.find((node) => node !== maker);
        assert.ok(other !== undefined);
        const { backups } = JSON.parse((await ask(`${other.url}/api/status`)).text);
        assert.equal(backups.newestAt, null);
        await maker.stop('SIGKILL');
        await until('the other makes them', () => findMakers([other]).length === 1,
          { seen: other.stderr });
        assert.deepEqual(await restoreTitles(folder, to), ['Emma']);
      } finally {
        await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
        await engine.close();
      }
    }));
}
