import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
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

test('records move into etcd and back, and the settings to change are told', { skip },
  async () => {
    const { folder, run } = makePlace();
    const url = `${cluster.url}/moved`;
    const environment = { HOOKSHELF_STORE_URL: url };
    const before = await fill(run);
    const moved = await run(['data:move', '--to', url]);
    assert.equal(moved.code, 0, moved.stderr);
    assert.match(moved.stdout, /^moved 3 books, .*1 tokens.* \(sequence \d+\) to etcd:\/\//);
    assert.match(moved.stdout, /checksum of each of \d+ collections is the same/);
    assert.match(moved.stdout, /now set store\.url to the URL of etcd:\/\/[^@]*\/moved/);
    assert.deepEqual(JSON.parse((await run(['book:list', '--json'])).stdout), before);
    const started = await run(['book:list', '--json'], environment);
    assert.deepEqual(JSON.parse(started.stdout), before, started.stderr);

    const verified = await run(['data:verify'], environment);
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stdout, /\/moved: sequence \d+ with .*3 books.*; nothing is damaged\n$/);
    const other = join(folder, 'other');
    const back = await run(['data:move', '--to', other, '--json'], environment);
    assert.equal(back.code, 0, back.stderr);
    const report = JSON.parse(back.stdout);
    assert.equal(report.collections.find(({ collection }: { collection: string }) =>
      collection === 'books').records, 3);
    assert.match(report.next[0],
      /remove store\.url \(from HOOKSHELF_STORE_URL\).*--data \/.*other/);
    const listed = await runCommand(['book:list', '--json', '--data', other]);
    assert.deepEqual(JSON.parse(listed.stdout), before);
    const fileVerified = await runCommand(['data:verify', '--data', other]);
    assert.match(fileVerified.stdout, /generation \d+ with .*3 books/);
  });

test('a log that was moved is closed, and is moved once more as it was', { skip },
  async () => {
    const { folder, run } = makePlace();
    const url = `${cluster.url}/closed`;
    const environment = { HOOKSHELF_STORE_URL: url };
    const before = await fill(run);
    assert.equal((await run(['data:move', '--to', url])).code, 0);
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    const moved = await run(['data:move', '--to', first], environment);
    assert.equal(moved.code, 0, moved.stderr);
    assert.match(moved.stdout, /\/closed is closed: it keeps what it has, and nodes there take no/);
    const refused = await run(['book:add', '--input', '{"title":"Late"}'], environment);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /the log was closed at .* brought its records to \/.*\/first: go/);
    const verified = await run(['data:verify'], environment);
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stderr, /the log was closed at /);
    // As after a move that was cut off when the log was closed, and the directory was not there.
    for (const [to, note] of [
      [first, /^$/], [second, /\/closed was moved to \/.*\/first before: what was written there/],
    ] as const) {
      const again = await run(['data:move', '--to', to, '--replace'], environment);
      assert.equal(again.code, 0, again.stderr);
      assert.match(again.stderr, note);
      const listed = await runCommand(['book:list', '--json', '--data', to]);
      assert.deepEqual(JSON.parse(listed.stdout), before);
    }
  });

test('a move is refused where there is a log, and where the directory holds data', { skip },
  async () => {
    const { folder, data, run } = makePlace();
    const url = `${cluster.url}/taken`;
    await fill(run);
    assert.equal((await run(['data:move', '--to', url])).code, 0);
    const second = makePlace();
    await fill(second.run);
    const refused = await second.run(['data:move', '--to', url]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /taken holds a log already: name an empty place/);
    const before = readdirSync(second.data).sort();
    const taken = await run(['data:move', '--to', second.data], { HOOKSHELF_STORE_URL: url });
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /--replace/);
    assert.deepEqual(readdirSync(second.data).sort(), before);
    assert.deepEqual(readdirSync(data).filter((name) => name.startsWith('scratch')), []);
    const unknown = await run(['data:move', '--to', 'mysql://me:secret@x/y']);
    assert.equal(unknown.code, 2);
    assert.doesNotMatch(unknown.stderr, /secret/);
    assert.ok(!existsSync(join(folder, 'mysql:')));
  });

test('a backup is restored into an etcd that holds no log', { skip }, async () => {
  const { folder, run } = makePlace();
  const environment = { HOOKSHELF_STORE_URL: `${cluster.url}/restored` };
  const before = await fill(run);
  const from = join(folder, 'backup.tar');
  assert.equal((await run(['data:backup', '--to', from])).code, 0);
  const node = makePlace();
  const restored = await node.run(['data:restore', '--from', from], environment);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /^restored into etcd:.*\/restored: sequence \d+ with .*3 books/);
  const again = await node.run(['data:restore', '--from', from, '--replace'], environment);
  assert.equal(again.code, 0, again.stderr);
  const back = join(folder, 'back');
  assert.equal((await node.run(['data:move', '--to', back], environment)).code, 0);
  const listed = await runCommand(['book:list', '--json', '--data', back]);
  assert.deepEqual(JSON.parse(listed.stdout), before);
});

type Run = (words: readonly string[], environment?: Record<string, string>) => Promise<Ran>;

function makePlace(): { folder: string; data: string; run: Run } {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  const run: Run = (words, environment = {}) =>
    runCommand([...words, '--data', data], { environment });
  return { folder, data, run };
}

async function fill(run: Run): Promise<unknown> {
  for (const title of ['One', 'Two', 'Three ü€𝄞']) {
    const { code, stderr } = await run(['book:add', '--input', JSON.stringify({ title })]);
    assert.equal(code, 0, stderr);
  }
  assert.equal((await run(['token:create', '--name', 'x', '--scope', 'read'])).code, 0);
  return JSON.parse((await run(['book:list', '--json'])).stdout);
}
