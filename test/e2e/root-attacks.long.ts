/** What the user of a data directory may try when root runs a command on it. */
import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync, linkSync, lstatSync, readFileSync, readdirSync, rmSync,
  symlinkSync, writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { owned } from '../support/children.ts';
import { IS_LONG, someOf } from '../support/long.ts';
import { NOBODY, makeNobodys, needsRoot, othersIn, writeNobodys } from '../support/users.ts';
import { hookshelf } from './processes.ts';
import { inPlace } from './root-place.ts';

const skip = needsRoot;
const EMMA = '{"title":"Emma"}';

/** Listens at `path` for as long as `use` takes; the directory's lock names it. */
async function withServer(
  data: string, path: string, answer: unknown, use: (server: Server) => Promise<void>,
): Promise<number> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const owner = {
    pid: process.pid, kind: 'server', socketPath: path, startTime: '', bootId: '', namespace: '',
    hasSocket: false,
  };
  writeNobodys(join(data, 'lock'), JSON.stringify(owner));
  try {
    await use(server);
    return requests;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('names that a control socket gives are the store\'s own, or nothing is copied', { skip },
  () => inPlace(async ({ data, vault, run }) => {
    writeFileSync(join(vault, 'secret'), 'of root');
    writeNobodys(join(data, 'journal-000001.jsonl'), 'from the user\n');
    writeNobodys(join(data, 'evil'), 'from the user\n');
    const path = join(data, 'control.sock');
    for (const [index, file] of [
      { name: '../evil', bytes: 5 }, { name: 'evil', bytes: 5 }, { name: `${data}/evil`, bytes: 5 },
      { name: 'journal-000001.jsonl/../evil', bytes: 5 }, { name: '../vault/secret', bytes: 7 },
      { name: 'journal-000001.jsonl', bytes: -1 }, { name: 'journal-000001.jsonl', bytes: 1.5 },
      { name: 'journal-000001.jsonl', bytes: 'x' }, { name: 'journal-000001.unsynced', bytes: 1 },
    ].entries()) {
      await withServer(data, path, { files: [file] }, async () => {
        chownSync(path, NOBODY, NOBODY);
        // Into a folder and into an archive by turns: both ask the same of a name.
        const to = join(vault, 'in', index % 2 === 0 ? 'copy' : 'copy.tar');
        const { code, stderr } = await run('data:backup', '--to', to);
        assert.equal(code, 1, stderr);
        assert.match(stderr, /no file of the store/, JSON.stringify(file));
      });
      assert.deepEqual(readdirSync(vault), ['secret']);
    }
  }));

test('a socket that the user may not open is not opened for the user', { skip }, () =>
  inPlace(async ({ data, vault, run }) => {
    const requests = await withServer(data, join(vault, 'root.sock'), [], async () => {
      await run('book:list');
      await run('doctor');
    });
    assert.equal(requests, 0);
  }));

test('nothing is read or written through links of the user', { skip }, () =>
  inPlace(async ({ data, vault, run }) => {
    assert.equal((await run('book:add', '--input', EMMA)).code, 0);
    const secret = join(vault, 'secret.json');
    writeFileSync(secret, '{"title":"of root"}', { mode: 0o600 });
    symlinkSync(secret, join(data, 'in.json'));
    symlinkSync(vault, join(data, 'out'));
    symlinkSync(join(vault, 'made.csv'), join(data, 'made.csv'));
    for (const words of [
      ['book:import', '--file', `${data}/in.json`], ['book:add', '--input', `@${data}/in.json`],
      ['book:list', '--config', `${data}/in.json`], ['book:export', '--file', `${data}/out/a.csv`],
      ['data:backup', '--to', `${data}/out/b`], ['data:backup', '--to', `${data}/out/b.tar`],
      ['data:restore', '--from', `${data}/out/b.tar`, '--replace'],
      ['serve', '--port', '0', '--config', `${data}/in.json`],
    ]) {
      const { code, stderr } = await run(...words);
      assert.notEqual(code, 0, words.join(' '));
      assert.match(stderr, /^hookshelf: [^\n]*EACCES/, words.join(' '));
    }
    assert.equal((await run('book:export', '--file', `${data}/made.csv`)).code, 1);
    assert.deepEqual(readdirSync(vault), ['secret.json']);
    for (const name of ['in.json', 'out', 'made.csv']) rmSync(join(data, name));
    assert.deepEqual(othersIn(data), []);
  }));

test('links, pipes and hard links in the place of the store\'s own files do no harm', { skip },
  () => inPlace(async ({ data, vault, run }) => {
    const precious = join(vault, 'precious');
    const names = ['lock', 'lock.sock', 'control.sock', 'settings.json', 'journal-000001.jsonl',
      'books-000001.json', 'journal-000001.jsonl.tmp', 'replacing.tmp', 'backup.pending',
      'probe.tmp', 'actions'];
    // Those that every command looks at.
    const readNames = ['lock', 'control.sock', 'settings.json', 'journal-000001.jsonl',
      'backup.pending', 'actions'];
    const plants: readonly (readonly [readonly string[], (path: string) => void])[] = [
      [names, (path) => symlinkSync(precious, path)],
      [names, (path) => linkSync(precious, path)],
      [readNames, (path) => {
        spawnSync('mkfifo', [path]);
        chownSync(path, NOBODY, NOBODY);
      }],
      [readNames, (path) => symlinkSync(vault, path)],
    ];
    for (const [places, plant] of plants) {
      for (const name of someOf(places, 2)) {
        writeFileSync(precious, 'precious', { mode: 0o600 });
        plant(join(data, name));
        // Whatever comes of it, it ends.
        await run('book:add', '--input', EMMA);
        assert.equal(readFileSync(precious, 'utf8'), 'precious', name);
        assert.deepEqual(readdirSync(vault), ['precious'], name);
        rmSync(data, { recursive: true });
        makeNobodys(data);
      }
    }
  }));

/** Swaps the data directory for a link to root's, and back, as fast as it can. */
const SWAPPER = `
const { renameSync, symlinkSync, mkdirSync, rmSync } = require('node:fs');
const [data, vault] = process.argv.slice(1);
process.setgroups([${NOBODY}]); process.setgid(${NOBODY}); process.setuid(${NOBODY});
symlinkSync(vault, data + '.link');
process.send('ready');
for (;;) {
  try { renameSync(data, data + '.real'); } catch {}
  try { renameSync(data + '.link', data); } catch {}
  try { renameSync(data, data + '.link'); } catch {}
  try { renameSync(data + '.real', data); } catch {}
}`;

test('a data directory that is a link to root\'s folder every other moment lends no rights',
  { skip }, () => inPlace(async ({ data, vault }) => {
    writeFileSync(join(vault, 'journal-000001.jsonl'), 'of root', { mode: 0o600 });
    const inner = join(data, 'books');
    makeNobodys(inner);
    const program = join(data, '..', 'swapper.cjs');
    writeFileSync(program, SWAPPER.replace('slice(1)', 'slice(2)'), { mode: 0o644 });
    const swapper = owned(fork(program, [inner, vault]));
    await once(swapper, 'message', { signal: AbortSignal.timeout(60_000) });
    for (let round = 0; round < (IS_LONG ? 3 : 1); round += 1) {
      for (const words of [['book:add', '--input', EMMA], ['data:backup', '--to', `${inner}/b`],
        ['book:export', '--file', `${inner}/x.csv`]]) {
        await hookshelf([...words, '--data', inner]);
      }
    }
    swapper.kill('SIGKILL');
    await once(swapper, 'exit');
    assert.deepEqual(readdirSync(vault), ['journal-000001.jsonl']);
    assert.equal(readFileSync(join(vault, 'journal-000001.jsonl'), 'utf8'), 'of root');
    for (const name of readdirSync(data)) {
      if (lstatSync(join(data, name)).isSymbolicLink()) rmSync(join(data, name));
    }
    assert.deepEqual(othersIn(data), []);
  }));
