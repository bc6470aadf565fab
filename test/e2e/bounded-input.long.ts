/** What options and settings name is read up to a limit; a pipe may stand for a value. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOf, owned } from '../support/children.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { someOf } from '../support/long.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { hookshelf, startServer } from './processes.ts';

const HOOK = ['incomingwebhook:create', '--path-segment', 'a', '--action-config', 'a'];
const TARGET = ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9/'];
const BODY_LIMIT = 'it is larger than 1048576 bytes, the server.maxBodyBytes';
const SECRET_LIMIT = 'it is larger than 8192 bytes, the most that a secret may have';
const URL_LIMIT = 'it is larger than 8192 bytes, the most that a URL may have';
const HEADERS_LIMIT = 'it is larger than 1048576 bytes, the most that headers may have';

/** The words of a command without the value of its last option, and what is said of it. */
const ENDLESS: readonly (readonly [words: readonly string[], says: string])[] = [
  [[...HOOK, '--preset', 'github', '--secret-file'], SECRET_LIMIT],
  [[...TARGET, '--secret-file'], SECRET_LIMIT],
  [['outgoingwebhook:create', '--target-url', '@'], URL_LIMIT],
  [[...TARGET, '--headers-file'], HEADERS_LIMIT],
  [[...TARGET, '--payload-template', '@'], BODY_LIMIT],
  [[...TARGET, '--when', '@'], BODY_LIMIT],
  [['book:add', '--input', '@'], BODY_LIMIT],
  [['event:emit', '--name', 'a', '--payload', '@'], BODY_LIMIT],
  [['actionconfig:create', '--action', 'log', '--options', '@'], BODY_LIMIT],
];

for (const [words, says] of someOf(ENDLESS, 4)) {
  const option = words.findLast((word) => word.startsWith('--')) ?? '';
  test(`${words[0]} reads no more of ${option} than it takes`, () => inFolder(async (data) => {
    const all = words.at(-1) === '@' ? [...words.slice(0, -1), '@/dev/zero']
      : [...words, '/dev/zero'];
    const { code, stderr } = await hookshelf([...all, '--data', data]);
    assert.equal(code, 1, stderr);
    assert.equal(stderr, `hookshelf: ${option}: ${says}\n`);
  }));
}

test('a settings file, a token and a certificate are read up to a limit as well', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const path = join(data, 'settings.json');
    writeFileSync(path, ' '.repeat((1 << 20) + 1));
    const serve = ['serve', '--port', '0', '--data', data];
    for (const [words, says] of [
      [serve, `the settings file ${path} cannot be read: it is larger than 1048576 bytes`],
      [[...serve, '--config', '/dev/zero'],
        'the settings file /dev/zero cannot be read: it is larger than 1048576 bytes'],
      [['book:list', '--server', 'http://127.0.0.1:9', '--token-file', '/dev/zero'],
        "cannot read the token's file: it is larger than 8192 bytes"],
    ] as const) {
      const { code, stderr } = await hookshelf(words);
      assert.equal(code, 2, stderr);
      assert.equal(stderr, `hookshelf: ${says}\n`);
    }
  }));

test('pipes stand for values: standard input by name, and what a shell substitutes', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    for (const path of ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0', '-']) {
      const made = await hookshelf([...TARGET, '--secret-file', path, '--data', data],
        { input: 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cy0x\n' });
      assert.equal(made.code, 0, `${path}: ${made.stderr}`);
    }
    const config = '{"server": {"port": 0}}';
    const shown = await hookshelf(['settings:show', '--config', '/dev/stdin', '--json', '--data',
      data], { input: config });
    assert.equal(JSON.parse(shown.stdout)
      .find(({ name }: { name: string }) => name === 'server.port').value, 0, shown.stderr);
    const script = '"$0" "$1" event:emit --name a --payload @<(echo 7) --data "$2" --config '
      + `<(echo '${config}')`;
    const ended = await endOf(owned(spawn('bash',
      ['-c', script, process.execPath, QUICK_PROGRAM, data])));
    assert.equal(ended.code, 0, ended.stderr);
  }));

test('settings of the data directory, TLS files and modules are no pipes, and hold no start', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    const actions = join(data, 'actions');
    mkdirSync(actions, { recursive: true, mode: 0o700 });
    const pipe = join(folder, 'pipe');
    const makePipe = (path: string): void =>
      assert.equal(spawnSync('mkfifo', ['-m', '600', path]).status, 0);
    const refuse = async (says: RegExp, environment = {}): Promise<void> => {
      const { code, stderr } =
        await hookshelf(['serve', '--port', '0', '--data', data], { environment });
      assert.equal(code, 2, stderr);
      assert.match(stderr, says);
    };
    makePipe(pipe);
    const { cert, key } = createCertificate();
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    await refuse(/cannot read server\.tlsCert: .*pipe is not a regular file/,
      { HOOKSHELF_SERVER_TLS_CERT: pipe, HOOKSHELF_SERVER_TLS_KEY: keyFile });
    await refuse(/cannot read server\.tlsKey: .*pipe is not a regular file/,
      { HOOKSHELF_SERVER_TLS_CERT: certFile, HOOKSHELF_SERVER_TLS_KEY: pipe });
    makePipe(join(actions, 'pipe.mjs'));
    await refuse(/actions\/pipe\.mjs: is not a regular file/);
    makePipe(join(data, 'settings.json'));
    await refuse(/settings\.json cannot be read: .*settings\.json is not a regular file/);
    const { code, stderr } = await hookshelf(
      ['serve', '--max-memory', '128', '--config', pipe, '--data', data]);
    assert.equal(code, 2);
    assert.match(stderr, /--config .*pipe is not a regular file/);
  }));

test('a token in a file that others may read is used, and warned of', () =>
  inFolder(async (folder) => {
    const token = 'a-token-of-the-tests';
    const server = await startServer(['--data', join(folder, 'data')],
      { environment: { HOOKSHELF_API_TOKEN: token } });
    const path = join(folder, 'token');
    writeFileSync(path, `${token}\n`);
    for (const [mode, isWarned] of [
      [0o600, false], [0o640, true], [0o604, true], [0o644, true], [0o700, false],
    ] as const) {
      chmodSync(path, mode);
      const { code, stderr } = await hookshelf(
        ['book:list', '--server', server.url, '--token-file', path]);
      assert.equal(code, 0);
      const says = `hookshelf: other users may read the token in ${path}: chmod 600 ${path}\n`;
      assert.equal(stderr, isWarned ? says : '', mode.toString(8));
    }
    const piped = await hookshelf(
      ['book:list', '--server', server.url, '--token-file', '/dev/stdin'], { input: token });
    assert.deepEqual([piped.code, piped.stderr], [0, '']);
    await server.stop();
  }));
