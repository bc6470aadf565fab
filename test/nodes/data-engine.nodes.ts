import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openApp } from '../../src/app.ts';
import { silentLogger } from '../../src/base/log.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { runCommand } from '../cli/io.ts';
import type { Ran } from '../cli/io.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { etcdMissing, startEtcd } from './support/etcd-cluster.ts';
import type { EtcdCluster } from './support/etcd-cluster.ts';

const skip = etcdMissing;
let cluster: EtcdCluster;
before(async () => {
  if (skip === false) cluster = await startEtcd({ members: 1 });
});
after(() => cluster?.close());

for (const way of ['without a server', 'through a server']) {
  test(`what etcd keeps is compacted, backed up and verified, ${way}`, { skip },
    async (context) => {
      const folder = createTemporaryFolder();
      const data = join(folder, 'data');
      const environment = { HOOKSHELF_STORE_URL: `${cluster.url}/${way.replaceAll(' ', '-')}` };
      const run = (...words: string[]): Promise<Ran> =>
        runCommand([...words, '--data', data], { environment });
      mkdirSync(data, { mode: 0o700 });
      const early = await run('book:add', '--input', '{"title":"None"}');
      assert.equal(early.code, 1);
      assert.match(early.stderr, /holds no log: name the right database, or start hookshelf serve/);
      const { settings } = loadSettings({ environment });
      const app = await openApp({ data, settings, logger: silentLogger, role: 'server' });
      app.start();
      if (way === 'through a server') context.after(() => app.close());
      else await app.close();
      for (const title of ['One', 'Two']) {
        const added = await run('book:add', '--input', JSON.stringify({ title }));
        assert.equal(added.code, 0, added.stderr);
      }
      const before = JSON.parse((await run('book:list', '--json')).stdout);
      assert.equal(before.length, 2);
      const compacted = await run('data:compact');
      assert.equal(compacted.code, 0, compacted.stderr);
      assert.match(compacted.stdout, /^compacted: a snapshot at sequence \d+ is in etcd:\/\//);
      const verified = await run('data:verify');
      assert.equal(verified.code, 0, verified.stderr);
      assert.match(verified.stdout, /: sequence \d+ with .*2 books.*; nothing is damaged\n$/);

      for (const name of ['backup', 'backup.tar']) {
        const to = join(folder, name);
        const backed = await run('data:backup', '--to', to);
        assert.equal(backed.code, 0, backed.stderr);
        const fresh = join(folder, `fresh-${name}`);
        const restored = await runCommand(['data:restore', '--from', to, '--data', fresh]);
        assert.equal(restored.code, 0, restored.stderr);
        const listed = await runCommand(['book:list', '--json', '--data', fresh]);
        assert.deepEqual(JSON.parse(listed.stdout), before);
      }
    });
}
