/** Which server a command works on, and what it says when that is not clear. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { runCommand } from './io.ts';

const SERVER = 'http://127.0.0.1:9';

const REFUSED: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['book:list', '--server', SERVER, '--data', 'x'], /--server and --data contradict each other/],
  [['book:list', '--server', 'books.example.com'], /must be a URL such as https:.*not "books\.e/],
  [['book:list', '--server', 'ftp://books.example.com'], /must be a URL such as https:/],
  [['book:list', '--server', 'https://ada:hush@books.example.com'], /no credentials.*--token-file/],
  [['book:list', '--server', `${SERVER}/?a=b`], /a query or a fragment/],
  [['book:list', '--server', `${SERVER}/#a`], /a query or a fragment/],
  [['book:list', '--token-file', 'x'], /--token-file is for a server/],
  [['book:list', '--data', 'x', '--token-file', 'x'], /--token-file is for a server/],
  [['book:list', '--server', SERVER, '--token-file', '/nowhere/token'], /cannot read the token/],
  [['version', '--server', SERVER], /version asks no server/],
  [['help', '--server', SERVER], /help asks no server/],
  [['manual', '--server', SERVER], /manual asks no server/],
  [['completion', 'bash', '--server', SERVER], /completion asks no server/],
];

for (const [words, says] of REFUSED) {
  test(`refuses ${words.join(' ')}`, async () => {
    const { code, stdout, stderr } = await runCommand(words);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^hookshelf: [^\n]*\n$/);
    assert.match(stderr, says);
    assert.ok(!stderr.includes('hush'));
  });
}

test('commands of a data directory refuse a server, also the environment\'s', async () => {
  const local = COMMANDS.filter(({ isLocal }) => isLocal === true);
  const names = local.map(({ name }) => name);
  for (const name of ['serve', 'token:create', 'data:backup']) {
    assert.ok(names.includes(name), name);
  }
  const given: Readonly<Record<string, readonly string[]>> = {
    'token:create': ['--name', 'a', '--scope', 'read'], 'token:revoke': ['a'],
    'data:backup': ['--to', 'a'], 'data:restore': ['--from', 'a'],
    'data:move': ['--to', 'a'],
  };
  for (const name of names) {
    const words = [name, ...given[name] ?? []];
    const flagged = await runCommand([...words, '--server', SERVER]);
    assert.equal(flagged.code, 2, name);
    assert.match(flagged.stderr, /works only on a data directory of this machine/);
    const { code, stderr } = await runCommand(words, {
      environment: { HOOKSHELF_SERVER: SERVER },
    });
    assert.equal(code, 2, name);
    assert.match(stderr, /HOOKSHELF_SERVER names a server: name the directory with --data/);
  }
});

test('a data directory that is named takes precedence over the server of the environment',
  async () => {
    const folder = createTemporaryFolder();
    const environment = { HOOKSHELF_SERVER: SERVER };
    const added = await runCommand(
      ['book:add', '--input', '{"title":"Emma"}', '--data', folder], { environment });
    assert.equal(added.code, 0, added.stderr);
    const words = ['data:verify', '--json'];
    const named = await runCommand(words, {
      environment: { ...environment, HOOKSHELF_DATA: folder },
    });
    assert.equal(JSON.parse(named.stdout).records.books, 1);
    const far = await runCommand(['book:list'], {
      environment: { ...environment, HOOKSHELF_DATA: folder },
    });
    assert.match(far.stderr, /^hookshelf: cannot reach http:\/\/127\.0\.0\.1:9: /);
  });

test('help is shown whatever the environment names', async () => {
  const environment = { HOOKSHELF_SERVER: 'nonsense', HOOKSHELF_TOKEN_FILE: '/nowhere' };
  for (const words of [['help'], ['version'], ['book:list', '--help'], ['completion', 'zsh']]) {
    assert.equal((await runCommand(words, { environment })).code, 0, words.join(' '));
  }
});

test('help lists the options of a server for the commands that take them', async () => {
  for (const [name, isListed] of [['book:show', true], ['data:verify', false]] as const) {
    const { stdout } = await runCommand(['help', name]);
    assert.equal(/--server <url>/.test(stdout), isListed);
    assert.equal(/--token-file <file>/.test(stdout), isListed);
  }
});

test('where the environment names a server, its token goes to that server alone', async () => {
  const folder = createTemporaryFolder();
  const file = join(folder, 'token');
  writeFileSync(file, 'hush\n', { mode: 0o600 });
  const run = (server: string, servers: Readonly<Record<string, string>>) =>
    runCommand(['book:list', '--server', server],
      { environment: { ...servers, HOOKSHELF_TOKEN_FILE: file } });
  const { code, stderr } = await run('http://127.0.0.2:9', { HOOKSHELF_SERVER: SERVER });
  assert.equal(code, 2);
  assert.match(stderr, /HOOKSHELF_TOKEN_FILE is for the server that HOOKSHELF_SERVER names/);
  // It is sent where the flag names the same server, and where the environment names none.
  for (const servers of [{ HOOKSHELF_SERVER: SERVER }, { HOOKSHELF_SERVER: '' }, {}]) {
    const sent = await run(SERVER, servers);
    assert.match(sent.stderr, /^hookshelf: cannot reach http:\/\/127\.0\.0\.1:9: /);
  }
});

test('--token-file is refused wherever a command works on this machine', async () => {
  const folder = createTemporaryFolder();
  const { code, stderr } = await runCommand(['data:verify', '--token-file', 'x'], {
    environment: { HOOKSHELF_SERVER: SERVER, HOOKSHELF_DATA: folder },
  });
  assert.equal(code, 2);
  assert.match(stderr, /--token-file is for a server/);
});

test('refuses a file that holds no token, and does not show it', async () => {
  const folder = createTemporaryFolder();
  const file = join(folder, 'token');
  for (const text of ['', '\n', 'two words', 'two\nlines\n', 'hush\u00e9', 'a\u0000b']) {
    writeFileSync(file, text);
    const { code, stderr } = await runCommand(
      ['book:list', '--server', SERVER, '--token-file', file]);
    assert.equal(code, 2);
    assert.match(stderr, /does not hold a token: one line, without spaces\n$/);
    assert.ok(!/two|hush/.test(stderr));
  }
});
