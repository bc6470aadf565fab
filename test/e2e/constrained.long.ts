/** Little is given: a read-only program, no /tmp, a user without rights, root on another's data. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync, chownSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { createTemporaryFolder, inFolder } from '../support/temporary-folder.ts';
import { NOBODY, needsRoot } from '../support/users.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type ProcessOptions } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const hasSetpriv = spawnSync('setpriv', ['--version']).status === 0;
const hasNamespaces = spawnSync('unshare', ['--net', 'true']).status === 0;
const hasMounts =
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** No variable but these; TMPDIR names nothing. */
const environment = { PATH: process.env['PATH'] ?? '', TMPDIR: '/nonexistent' };

/** A user that owns nothing, who can be one only when we are root. */
const needsNobody = needsRoot || (!hasSetpriv && 'there is no setpriv');
const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups',
  '--no-new-privs', '--bounding-set=-all'];

/** Installed for all tests of this file, none of which can write in it. */
const program = createTemporaryFolder();
/** The installed program, run by nobody. */
const asInstalled: ProcessOptions = {
  environment, cwd: '/', program: [...asNobody, process.execPath, join(program, 'dist/main.js')],
};

before(() => {
  if (needsNobody === false) installIn(program);
});

test('a user without rights serves from a program folder that nobody may write', {
  skip: needsNobody,
}, () => inFolder(async (folder) => {
  const data = dataOf(folder, NOBODY);
  const names = namesIn(program);
  const options = asInstalled;
  const server = await startServer(['--data', data], options);
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'latin1');
  assert.match(status, new RegExp(`^Uid:\\s+${NOBODY}\\s`, 'm'));
  assert.equal((await tour(server.url, data, options)), '');
  assert.equal((await server.stop()).code, 0);
  assert.deepEqual(namesIn(program), names);
}));

test('what root makes in a directory takes the owner of that directory', { skip: needsRoot },
  () => inFolder(async (folder) => {
    const data = dataOf(folder, NOBODY);
    const server = await startServer(['--data', data], { environment });
    await tour(server.url, data, { environment });
    assert.equal(statSync(join(data, 'control.sock')).uid, NOBODY);
    await server.stop();
    for (const words of [['data:compact'], ['token:create', '--name', 'a', '--scope', 'read']]) {
      const { code, stderr } = await hookshelf([...words, '--data', data], { environment });
      assert.equal(code, 0, stderr);
    }
    const foreign = namesIn(data).filter((name) => statSync(join(data, name)).uid !== NOBODY);
    assert.deepEqual(foreign, []);
  }));

test('who may not look into a data directory is told whose it is to be', {
  skip: needsNobody,
}, () => inFolder(async (folder) => {
  const data = dataOf(folder, 0);
  const { code, stderr } = await hookshelf(['book:list', '--data', data], asInstalled);
  assert.equal(code, 1);
  assert.match(stderr,
    /^hookshelf: the settings file .* belongs to user 0 \(root\); run as its owner, /);
}));

test('a file of root among those of the service is named to the service, to root and by doctor', {
  skip: needsNobody,
}, () => inFolder(async (folder) => {
  const data = dataOf(folder, NOBODY);
  const server = await startServer(['--data', data], asInstalled);
  await server.stop();
  const [journal = ''] = readdirSync(data).filter((name) => name.startsWith('journal-'));
  chownSync(join(data, journal), 0, 0);
  const telling = new RegExp(`as user ${NOBODY} \\(nobody\\): ${join(data, journal)} belongs to `
    + `user 0 \\(root\\).*chown -R nobody: ${data}\\b`);
  for (const options of [asInstalled, { environment }]) {
    const { code, stderr } = await hookshelf(['book:list', '--data', data], options);
    assert.equal(code, 1);
    assert.match(stderr, telling);
    const { stdout } = await hookshelf(['doctor', '--json', '--data', data], options);
    assert.match(JSON.stringify(JSON.parse(stdout)), telling);
  }
}));

test('where nothing may be written books are read, and a server says what it lacks', {
  skip: needsNobody,
}, () => inFolder(async (folder) => {
  const data = dataOf(folder, NOBODY);
  const options = asInstalled;
  const server = await startServer(['--data', data], options);
  const added = ['book:add', '--input', '{"title":"Emma"}', '--data', data];
  assert.equal((await hookshelf(added, options)).code, 0);
  server.child.kill('SIGKILL');
  await server.ended;
  chmodSync(data, 0o500);
  const lacking = /^hookshelf: cannot make .* as user 65534 \(nobody\); chmod u\+rwx \//;
  // First beside the sockets of the killed one, then without any.
  for (const name of ['control.sock', 'lock.sock']) {
    const listed = await hookshelf(['book:list', '--json', '--data', data], options);
    assert.equal(listed.code, 0, listed.stderr);
    assert.equal(JSON.parse(listed.stdout).length, 1);
    const refused = await hookshelf(['serve', '--port', '0', '--data', data], options);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, lacking);
    rmSync(join(data, name));
  }
  const { stdout } = await hookshelf(['doctor', '--data', data], options);
  assert.match(stdout,
    /data directory +failed .* cannot be written \(EACCES: .*\): chmod u\+rwx \//);
}));

test('a backup goes where its command may write, not the server', {
  skip: needsNobody,
}, () => inFolder(async (folder) => {
  const data = dataOf(folder, NOBODY);
  const options = asInstalled;
  const server = await startServer(['--data', data], options);
  await tour(server.url, data, { environment });
  const vault = join(folder, 'vault');
  mkdirSync(vault, { mode: 0o700 });
  for (const name of ['copy', 'copy.tar']) {
    const to = join(vault, name);
    const made = await hookshelf(['data:backup', '--to', to, '--data', data], { environment });
    assert.equal(made.code, 0, made.stderr);
    assert.equal(statSync(to).uid, 0);
  }
  await server.stop();
}));

test('without a folder for temporary files everything works', () => inFolder(async (folder) => {
  const data = join(folder, 'data');
  const options = { environment, cwd: folder };
  const server = await startServer(['--data', data], options);
  assert.equal(await tour(server.url, data, options), '');
  await server.stop();
  const backup = join(folder, 'backup.tar');
  for (const words of [['data:backup', '--to', backup], ['data:verify'],
    ['data:restore', '--from', backup, '--replace'], ['book:list']]) {
    const { code, stderr } = await hookshelf([...words, '--data', data], options);
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
  }
}));

test('on a read-only mount data is read and backed up, and who writes is told of the mount', {
  skip: needsRoot || (!hasMounts && 'nothing can be mounted here'),
}, () => inFolder(async (folder) => {
  const data = join(folder, 'data');
  const added = await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data],
    { environment });
  assert.equal(added.code, 0, added.stderr);
  rmSync(join(data, 'lock'));
  const names = namesIn(data);
  const script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"';
  const main = resolve(ROOT, 'dist/main.js');
  const program = ['unshare', '--mount', 'sh', '-c', script, 'sh', data, process.execPath, main];
  const run = (...words: string[]) =>
    hookshelf([...words, '--data', data], { environment, program });
  for (const words of [
    ['book:list'], ['book:export'], ['data:verify'], ['data:backup', '--to', join(folder, 'copy')],
  ]) {
    const { code, stdout, stderr } = await run(...words);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Emma|1 books|backed up/);
  }
  for (const words of [['book:add', '--input', '{"title":"B"}'], ['serve', '--port', '0'],
    ['data:restore', '--from', join(folder, 'copy'), '--replace']]) {
    const { code, stderr } = await run(...words);
    assert.equal(code, 1);
    assert.match(stderr,
      new RegExp(`^hookshelf: [^\\n]*is mounted read-only: ${data}\\)[^\\n]*\\n$`));
  }
  assert.match((await run('doctor')).stdout,
    new RegExp(`failed .* is mounted read-only: ${data}\\): mount it for writing`));
  assert.deepEqual(namesIn(data), names);
}));

test('no network is needed but its own port', {
  skip: needsRoot || (!hasNamespaces && 'network namespaces cannot be made here'),
}, () => inFolder(async (data) => {
  // A namespace of its own holds nothing but a loopback that is down: it is put up for the port.
  const main = resolve(ROOT, 'dist/main.js');
  const script = `ip link set lo up 2>/dev/null || true
    exec "$0" "$@"`;
  const program = ['unshare', '--net', 'sh', '-c', script, process.execPath, main];
  const server = await startServer(['--data', data], { environment, program });
  // Nobody can reach the port from outside of the namespace; the socket needs no network.
  const added = await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data],
    { environment });
  assert.equal(added.code, 0, added.stderr);
  assert.equal((await server.stop()).code, 0);
}));

function dataOf(folder: string, owner: number): string {
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, owner, owner);
  return data;
}

/** The built program, read-only. */
function installIn(program: string): void {
  cpSync(join(ROOT, 'dist'), join(program, 'dist'), {
    recursive: true, filter: (path) => !/\/(bin|binary)(\/|$)/.test(path.slice(ROOT.length)),
  });
  cpSync(join(ROOT, 'package.json'), join(program, 'package.json'));
  cpSync(join(ROOT, 'data/samples'), join(program, 'data/samples'), { recursive: true });
  spawnSync('chmod', ['-R', 'a-w,a+rX', program]);
}

/** Writes, reads and imports; the errors that commands have told. */
async function tour(url: string, data: string, options: ProcessOptions): Promise<string> {
  const made = await ask(`${url}/api/books`, { method: 'POST', body: { title: 'Emma' } });
  assert.equal(made.status, 201, made.text);
  const imported = await hookshelf(['book:import', '--sample', '--data', data], options);
  assert.match(imported.stdout, /^imported \d+, updated 0, unchanged 0, skipped 0\n$/,
    imported.stderr);
  const { stdout, stderr } = await hookshelf(['book:list', '--json', '--data', data], options);
  assert.ok(JSON.parse(stdout).length > 10);
  return imported.stderr + stderr;
}

function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}
