/** Root at work in a data directory that another user owns, and who may be hostile. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync, chownSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync,
  rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { createHookshelf } from '../../src/index.ts';
import type { Ended } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { someOf } from '../support/long.ts';
import { PROGRAM } from '../support/program.ts';
import { createCertificate } from '../support/tls.ts';
import { NOBODY, makeNobodys, needsRoot, othersIn, writeNobodys } from '../support/users.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type ProcessOptions } from './processes.ts';
import { inPlace } from './root-place.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const skip = needsRoot;
const EMMA = '{"title":"Emma"}';
const BOOKS_CSV = 'title\nEmma\nPersuasion\n';

/** An action that says whose rights it has. */
const SPY = `
import { writeFileSync } from 'node:fs';
const groups = [process.getgid(), ...process.getgroups()];
writeFileSync(new URL('spy.' + process.pid, import.meta.url),
  JSON.stringify([process.getuid(), process.geteuid(), ...groups]));
export default class {
  static identifier() { return 'spy'; }
  static label() { return 'Spy'; }
  execute() { return { success: true }; }
}`;

async function succeed(ended: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  return stdout;
}

test('a server that root starts has no right of root, and leaves nothing of root', { skip },
  () => inPlace(async ({ data, run }) => {
    const server = await startServer(['--data', data]);
    const status = readFileSync(`/proc/${server.child.pid}/status`, 'latin1');
    for (const [name, value] of [['Uid', NOBODY], ['Gid', NOBODY]]) {
      assert.match(status, new RegExp(`^${name}:(\\s+${value}){4}$`, 'm'));
    }
    assert.match(status, new RegExp(`^Groups:\\s+${NOBODY}\\s*$`, 'm'));
    for (const kind of ['Inh', 'Prm', 'Eff', 'Amb']) {
      assert.match(status, new RegExp(`^Cap${kind}:\\s+0+$`, 'm'));
    }
    await succeed(run('book:add', '--input', EMMA));
    assert.equal((await server.stop()).code, 0);
    for (const words of [['book:add', '--input', EMMA], ['data:compact'], ['data:verify'],
      ['token:create', '--name', 'a', '--scope', 'read'], ['book:export', '--file', 'x.csv'],
      ['book:export', '--file', `${data}/x.csv`]]) {
      await succeed(run(...words));
    }
    assert.deepEqual(othersIn(data), []);
  }));

test('under a memory cap no process of root is left', { skip }, () => inPlace(async ({ data }) => {
  const server = await startServer(['--data', data, '--max-memory', '64']);
  const isNobodys = (): boolean => {
    const status = readFileSync(`/proc/${server.child.pid}/status`, 'latin1');
    return new RegExp(`^Uid:(\\s+${NOBODY}){4}$`, 'm').test(status);
  };
  await until('the process that was started is nobody\'s', isNobodys);
  assert.equal((await server.stop()).code, 0);
}));

test('a data directory that root makes in the folder of a user is that user\'s', { skip },
  () => inPlace(async ({ folder, data }) => {
    const below = join(data, 'above', 'books');
    await succeed(hookshelf(['book:add', '--input', EMMA, '--data', below]));
    await succeed(hookshelf(['book:add', '--input', EMMA], { cwd: data }));
    assert.deepEqual(othersIn(data), []);
    // A link of the user to a place of root is not followed with the rights of root.
    symlinkSync(join(folder, 'vault'), join(data, 'link'));
    const { code } = await hookshelf(
      ['book:add', '--input', EMMA, '--data', join(data, 'link', 'books')]);
    assert.equal(code, 1);
    assert.deepEqual(readdirSync(join(folder, 'vault')), []);
  }));

test('the program may stand where the user of the data directory cannot read it', { skip },
  () => inPlace(async ({ vault, data }) => {
    for (const name of ['dist', 'package.json', 'data/samples']) {
      cpSync(join(ROOT, name), join(vault, name), {
        recursive: true, filter: (path) => !/\/dist\/(bin|binary)(\/|$)/.test(path),
      });
    }
    const options: ProcessOptions = {
      cwd: vault, program: [process.execPath, join(vault, 'dist/main.js')],
    };
    const server = await startServer(['--data', data, '--max-memory', '64'], options);
    await succeed(hookshelf(['book:import', '--sample', '--data', data], options));
    for (const path of ['/docs', '/openapi.json', '/api/books?q=emma&limit=1']) {
      assert.equal((await ask(server.url + path)).status, 200, path);
    }
    assert.equal((await server.stop()).code, 0);
    for (const words of someOf([['data:backup', '--to', 'b.tar'], ['book:list'],
      ['data:restore', '--from', 'b.tar', '--replace'], ['book:import', '--sample', '--replace'],
      ['doctor'], ['book:export', '--file', 'x.csv'], ['settings:show'], ['actionconfig:list'],
    ], 2)) {
      await succeed(hookshelf([...words, '--data', data], options));
    }
    const refused = await hookshelf(['book:show', '--id', 'no-such', '--data', data], options);
    assert.match(refused.stderr, /^hookshelf: .*no-such/);
  }));

test('actions and settings of the user run with the rights of the user', { skip },
  () => inPlace(async ({ data, run }) => {
    makeNobodys(join(data, 'actions'));
    writeNobodys(join(data, 'actions/spy.mjs'), SPY);
    makeNobodys(join(data, 'more'));
    writeNobodys(join(data, 'more/spy.mjs'), SPY.replaceAll("'spy'", "'more'"));
    writeNobodys(join(data, 'settings.json'), '{"actions":["more/spy.mjs"]}');
    await succeed(run('actionconfig:create', '--action', 'spy'));
    const server = await startServer(['--data', data]);
    await server.stop();
    for (const folder of ['actions', 'more']) {
      const said = readdirSync(join(data, folder)).filter((name) => name.startsWith('spy.'))
        .filter((name) => name !== 'spy.mjs');
      assert.ok(said.length > 0);
      for (const name of said) {
        const ids: unknown = JSON.parse(readFileSync(join(data, folder, name), 'utf8'));
        assert.deepEqual(new Set(Array.isArray(ids) ? ids : []), new Set([NOBODY]));
      }
    }
  }));

test('in root\'s own directory actions and settings of another user stop the start', { skip },
  () => inFolder(async (folder) => {
    const data = join(folder, 'data');
    const actions = join(data, 'actions');
    mkdirSync(actions, { recursive: true, mode: 0o700 });
    const spy = join(actions, 'spy.mjs');
    const refuse = async (message: RegExp): Promise<void> => {
      for (const words of [['actionconfig:create', '--action', 'spy'], ['serve', '--port', '0']]) {
        const { code, stderr } = await hookshelf([...words, '--data', data]);
        assert.equal(code, 2, stderr);
        assert.match(stderr, message);
      }
      const said = [...readdirSync(actions), ...readdirSync(folder)];
      assert.deepEqual(said.filter((name) => /spy\.\d/.test(name)), []);
    };
    writeNobodys(spy, SPY);
    await refuse(/spy\.mjs: is user 65534's, neither ours nor root's; run: chown 0 /);
    chownSync(spy, 0, 0);
    chownSync(actions, NOBODY, NOBODY);
    await refuse(/actions: is user 65534's/);
    chownSync(actions, 0, 0);
    chmodSync(data, 0o777);
    await refuse(/data: is writable by group or others/);
    chmodSync(data, 0o700);
    rmSync(spy);
    const elsewhere = join(folder, 'elsewhere.mjs');
    writeNobodys(elsewhere, SPY);
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ actions: [elsewhere] }));
    await refuse(/elsewhere\.mjs: is user 65534's/);
    chownSync(elsewhere, 0, 0);
    chmodSync(elsewhere, 0o666);
    await refuse(/elsewhere\.mjs: is writable by group or others; run: chmod go-w /);
    chownSync(join(data, 'settings.json'), NOBODY, NOBODY);
    await refuse(/settings\.json cannot be read: it is user 65534's, neither ours nor root's/);
    chownSync(join(data, 'settings.json'), 0, 0);
    chmodSync(join(data, 'settings.json'), 0o666);
    await refuse(/settings\.json cannot be read: everybody may write in it/);
  }));

test('root\'s own directory that others could exchange is not opened at all', { skip },
  () => inPlace(async ({ folder, data, vault }) => {
    mkdirSync(join(data, 'roots'), { mode: 0o700 });
    const open = join(folder, 'open');
    mkdirSync(join(open, 'roots'), { recursive: true, mode: 0o700 });
    chmodSync(open, 0o777);
    symlinkSync(vault, join(data, 'link'));
    const link = join(folder, 'to-vault');
    symlinkSync(vault, link);
    await succeed(hookshelf(['book:add', '--input', EMMA, '--data', link]));
    const before = readdirSync(vault);
    for (const [path, message] of [
      [join(data, 'roots'), /data is user 65534's, who could put anything in the place of /],
      [join(data, 'link'), /data is user 65534's, who could put anything in the place of /],
      [join(open, 'roots'), /others may write in .*open: they could put anything in the place /],
      [join(open, 'new'), /others may write in .*open: they could put anything in the place /],
    ] as const) {
      for (const words of [['book:list'], ['serve', '--port', '0'], ['data:verify']]) {
        const { code, stderr } = await hookshelf([...words, '--data', path]);
        assert.equal(code, 1, stderr);
        assert.match(stderr, message);
      }
    }
    assert.deepEqual(readdirSync(vault), before);
    assert.deepEqual(readdirSync(join(open, 'roots')), []);
    assert.ok(!existsSync(join(open, 'new')));
    await succeed(hookshelf(['help', '--data', join(data, 'roots')]));
  }));

test('who is called root in a user namespace works in folders of the system\'s root', {
  skip: skip || (spawnSync('unshare', ['--user', '--map-root-user', 'true'], {
    uid: NOBODY, gid: NOBODY,
  }).status !== 0 && 'user namespaces cannot be made here'),
}, () => inPlace(async ({ data }) => {
  const program = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', 'unshare',
    '--user', '--map-root-user', process.execPath, PROGRAM];
  const words = ['book:add', '--input', EMMA, '--data', data];
  await succeed(hookshelf(words, { program, cwd: '/' }));
  assert.deepEqual(othersIn(data), []);
}));

test('an embedded app of root does not open another user\'s directory', { skip }, () =>
  inPlace(async ({ data }) => {
    for (const path of [data, join(data, 'below')]) {
      await assert.rejects(createHookshelf({ data: path }),
        { code: 'conflict', message: /data is user 65534's, who could put anything in / });
    }
    assert.deepEqual(readdirSync(data), []);
  }));

test('doctor says in one row that the data directory is closed to its user', { skip }, () =>
  inPlace(async ({ vault }) => {
    const program = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups',
      process.execPath, PROGRAM];
    const { code, stdout } = await hookshelf(['doctor', '--data', vault], { program, cwd: '/' });
    assert.equal(code, 1);
    assert.match(stdout,
      /^CHECK .*\ndata directory +failed +nothing could be looked at \(EACCES.*belongs to.*\n$/);
  }));

test('files elsewhere are opened as root, before', { skip }, () =>
  inPlace(async ({ data, vault, run }) => {
    const put = (name: string, text: string): string => {
      writeFileSync(join(vault, name), text, { mode: 0o600 });
      return join(vault, name);
    };
    const secret = put('secret', 'not to be guessed');
    await succeed(run('book:add', '--input', `@${put('emma.json', EMMA)}`));
    await succeed(run('book:import', '--file', put('books.csv', BOOKS_CSV)));
    await succeed(run('actionconfig:create', '--identifier', 'a', '--action', 'log',
      '--options', `@${put('options.json', '{}')}`));
    await succeed(run('incomingwebhook:create', '--path-segment', 'p', '--action-config', 'a',
      '--secret-file', secret));
    await succeed(run('outgoingwebhook:create', '--target-url', 'http://localhost:1/',
      '--headers-file', put('headers', 'X-Key: k'), '--secret-file', secret,
      '--payload-template', `@${put('template', '{}')}`, '--name', 'o'));
    for (const [group, name] of [['incomingwebhook', 'p'], ['outgoingwebhook', 'o']] as const) {
      await succeed(run(`${group}:update`, name, '--secret-file', secret));
      await succeed(run(`${group}:rotate-secret`, name, '--secret-file', secret));
    }
    const script = `echo '${EMMA}' | "$0" "$@"`;
    const piped = { program: ['/bin/sh', '-c', script, process.execPath, PROGRAM] };
    await succeed(hookshelf(['book:add', '--input', '@/dev/stdin', '--data', data], piped));
    await succeed(run('event:emit', '--name', 'e', '--payload', `@${put('payload', '[]')}`));
    const shown = await succeed(run('settings:show', '--config',
      put('conf.json', '{"http":{"timeout":7}}')));
    assert.match(shown, /http\.timeout +7 +seconds +\S+conf\.json/);
    for (const name of ['b', 'b.tar']) {
      await succeed(run('data:backup', '--to', join(vault, name)));
      await succeed(run('data:restore', '--from', join(vault, name), '--replace'));
    }
    await succeed(run('book:export', '--file', join(vault, 'all.csv')));
    for (const name of ['b', 'b.tar', 'all.csv']) {
      const { uid, mode } = lstatSync(join(vault, name));
      assert.deepEqual([name, uid, mode & 0o077], [name, 0, 0]);
    }
    assert.equal(readFileSync(join(vault, 'all.csv'), 'utf8').split('\n').length, 6);
    assert.deepEqual(othersIn(data), []);
  }));

test('a low port and a certificate that root names are opened before', { skip }, () =>
  inPlace(async ({ data, vault }) => {
    const { cert, key } = createCertificate();
    writeFileSync(join(vault, 'cert.pem'), cert);
    writeFileSync(join(vault, 'key.pem'), key, { mode: 0o600 });
    const environment = {
      HOOKSHELF_SERVER_TLS_CERT: join(vault, 'cert.pem'),
      HOOKSHELF_SERVER_TLS_KEY: join(vault, 'key.pem'),
    };
    // Settings of the user open nothing with the rights of root.
    const own = { server: { tlsCert: join(vault, 'cert.pem'), tlsKey: join(vault, 'key.pem') } };
    writeNobodys(join(data, 'settings.json'), JSON.stringify(own));
    const refused = await hookshelf(['serve', '--port', '0', '--data', data]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /cannot read server\.tlsCert: EACCES/);
    const looked = await hookshelf(['doctor', '--data', data],
      { environment: { ...environment, HOOKSHELF_SERVER_PORT: '1' } });
    assert.match(looked.stdout, /port 1 of 127\.0\.0\.1 is for root to open: name it to serve/);
    for (let port = 1023; ; port -= 1) {
      assert.ok(port > 990, 'no low port is free');
      const words = ['--port', String(port), '--data', data];
      const server = await startServer(words, { environment }).catch((thrown: unknown) => {
        assert.match(String(thrown), /is in use/);
        return null;
      });
      if (server === null) continue;
      assert.equal(server.url, `https://127.0.0.1:${port}`);
      assert.equal((await ask(`${server.url}/healthz`, { ca: cert })).status, 200);
      assert.equal((await server.stop()).code, 0);
      return;
    }
  }));
