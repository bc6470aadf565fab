/** `apply` and `serve --apply` as real processes: starts, signals, tokens, root. */
import assert from 'node:assert/strict';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { makeToken } from '../support/make-token.ts';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { needsRoot, writeNobodys } from '../support/users.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';
import { inPlace } from './root-place.ts';

const SECRET = 'a-secret-of-the-tests-that-is-nowhere';
const environment = { GH_SECRET: SECRET };
const APPLIED = 'the configuration was made what the file says';
const UNCHANGED = 'the configuration is as the file says';
const KEPT = 'webhooks keep what the configuration file would undo';
const REFUSED = 'the configuration file was not applied again';

const hook = (pathSegment: string, members: object = {}): object =>
  ({ pathSegment, actionConfiguration: 'to-log', ...members });
const HOOK = hook('gh', { secret: { $env: 'GH_SECRET' } });

/** Writes a whole file under its name at once, as a tool that deploys it should. */
function put(path: string, ...incomingWebhooks: readonly object[]): void {
  const actionConfigurations = [{ identifier: 'to-log', actionType: 'log' }];
  writeFileSync(`${path}.new`, JSON.stringify({ actionConfigurations, incomingWebhooks }));
  renameSync(`${path}.new`, path);
}

type LogLine = { readonly message: string } & Readonly<Record<string, unknown>>;

function logOf(server: Running): LogLine[] {
  return server.stderr().split('\n').filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Sends SIGHUP, and resolves with the next line of that message. */
async function hangUp(server: Running, message: string): Promise<LogLine> {
  const find = (): LogLine[] => logOf(server).filter((line) => line.message === message);
  const countBefore = find().length;
  server.child.kill('SIGHUP');
  await until(`it is logged: ${message}`, () => find().length > countBefore,
    { seen: server.stderr });
  return find().at(-1) ?? assert.fail();
}

async function segmentsOf({ url }: Running): Promise<string[]> {
  const { text } = await ask(`${url}/api/incoming-webhooks`);
  return (JSON.parse(text) as { pathSegment: string }[]).map(({ pathSegment }) => pathSegment);
}

test('a server applies its file before it listens, and again at SIGHUP', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'shelf.json');
    put(path, HOOK);
    const server = await startServer(
      ['--data', join(folder, 'data'), '--apply', path, '--prune'], { environment });
    assert.deepEqual(await segmentsOf(server), ['gh']);
    const messages = logOf(server).map(({ message }) => message);
    assert.ok(messages.indexOf(APPLIED) < messages.indexOf('listening'), messages.join('; '));
    assert.deepEqual(logOf(server).find(({ message }) => message === APPLIED)?.['changes'],
      ['+ action configuration to-log', '+ incoming webhook gh']);

    put(path, HOOK, hook('sensor'));
    const { file, changes, unchanged } = await hangUp(server, APPLIED);
    assert.deepEqual([file, changes, unchanged], [path, ['+ incoming webhook sensor'], 2]);
    assert.deepEqual((await segmentsOf(server)).sort(), ['gh', 'sensor']);
    assert.equal((await hangUp(server, UNCHANGED))['unchanged'], 3);

    put(path, hook('sensor'));
    assert.deepEqual((await hangUp(server, APPLIED))['changes'], ['- incoming webhook gh']);
    assert.deepEqual(await segmentsOf(server), ['sensor']);
    assert.equal((await server.stop()).code, 0);
    assert.equal(server.stderr().includes('no certificate to read again'), false);
  }));

test('a file that is half written or wrong changes nothing, and its text is not in the log', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'shelf.json');
    put(path, HOOK);
    const server = await startServer(
      ['--data', join(folder, 'data'), '--apply', path, '--prune'], { environment });
    const whole = JSON.stringify({ incomingWebhooks: [hook('other', { secret: SECRET })] });
    for (const [text, problem] of [
      [whole.slice(0, -3), /shelf\.json: not valid JSON at line 1, column \d+/],
      [`{"secret":"${SECRET}" ${SECRET}}`, /not valid JSON at line 1/],
      ['', /not valid JSON at line 1, column 1/],
      ['[]', /must be a JSON object/],
      ['{"incomingWebhooks":[{"pathSegment":"gh","secret":{"$env":"ABSENT"}}]}', /ABSENT is not/],
      ['{"incomingWebhooks":[{"pathSegment":"gh"}]}', /actionConfiguration: is required/],
    ] as const) {
      writeFileSync(path, text);
      const line = await hangUp(server, REFUSED);
      assert.equal(line['level'], 'error');
      assert.match(String(line['problem']), problem);
      assert.deepEqual(await segmentsOf(server), ['gh'], text);
    }
    await server.stop();
    assert.equal(server.stderr().includes(SECRET), false);
  }));

test('a secret is not lost by a reload or a start, unless --yes says so', () =>
  inFolder(async (folder) => {
    const [path, data] = [join(folder, 'shelf.json'), join(folder, 'data')];
    put(path, HOOK);
    const server = await startServer(['--data', data, '--apply', path], { environment });
    put(path, hook('gh'));
    const problem = 'nothing was changed: this would remove the secret of incoming webhook gh; '
      + 'give --yes if that is meant';
    assert.equal((await hangUp(server, REFUSED))['problem'], problem);
    await server.stop();
    const words = ['--data', data, '--apply', path];
    const { code, stdout, stderr } = await hookshelf(['serve', '--port', '0', ...words]);
    assert.deepEqual([code, stdout, stderr.split('\n').slice(-2)],
      [1, '', [`hookshelf: ${problem}`, '']]);
    const another = await startServer([...words, '--yes']);
    const { text } = await ask(`${another.url}/api/incoming-webhooks`);
    assert.equal(JSON.parse(text)[0].hasSecret, false);
    await another.stop();
  }));

test('a rotated secret stays at a start and a reload, which do the rest and warn', () =>
  inFolder(async (folder) => {
    const [path, data] = [join(folder, 'shelf.json'), join(folder, 'data')];
    const words = ['--data', data, '--apply', path];
    put(path, hook('gh', { secret: 'of-the-file' }));
    const first = await startServer(words, { environment });
    const rotation = await ask(`${first.url}/api/incoming-webhooks/gh/rotate-secret`,
      { method: 'POST' });
    assert.equal(rotation.status, 200, rotation.text);
    const added = [hook('gh', { secret: 'of-the-file' }), hook('sensor')];
    put(path, ...added);
    assert.deepEqual((await hangUp(first, APPLIED))['changes'], ['+ incoming webhook sensor']);
    await first.stop();
    put(path, hook('gh', { secret: { $env: 'ABSENT' } }), hook('sensor'));
    const asked = await startServer([...words, '--keep', 'secret'], { environment });
    await asked.stop();
    put(path, ...added);
    const second = await startServer(words, { environment });
    for (const [server, keptLevel] of [
      [first, 'warning'], [asked, 'info'], [second, 'warning'],
    ] as const) {
      const { level, kept } = logOf(server).find(({ message }) => message === KEPT)
        ?? assert.fail(server.stderr());
      assert.deepEqual([level, kept],
        [keptLevel, [
          'incoming webhook gh keeps what is stored, not what the file says: secret; update it, '
          + 'or apply without keep, to change that',
        ]]);
    }
    const { text } = await ask(`${second.url}/api/incoming-webhooks/gh`);
    assert.notEqual(JSON.parse(text).previousSecret, undefined);
    await second.stop();
    const third = await startServer([...words, '--yes'], { environment });
    assert.deepEqual(logOf(third).find(({ message }) => message === APPLIED)?.['changes'],
      ['~ incoming webhook gh: secret']);
    await third.stop();
  }));

test('a start that would be open to others is refused before it applies its file', () =>
  inFolder(async (folder) => {
    const [path, data] = [join(folder, 'shelf.json'), join(folder, 'data')];
    writeFileSync(path, '{"outgoingWebhooks":[{"name":"crm","triggerEvent":"a.b",'
      + '"targetUrl":"http://127.0.0.1:9/"}]}');
    const words = ['serve', '--data', data, '--port', '0', '--host', '0.0.0.0', '--apply', path];
    const refused = await hookshelf(words);
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, /on 0\.0\.0\.0 anybody could read and change everything/);
    assert.ok(!existsSync(data));
    const add = ['book:add', '--input', '{"title":"Emma"}', '--data', data];
    assert.equal((await hookshelf(add)).code, 0);
    assert.equal((await hookshelf(words)).code, 2);
    const listed = await hookshelf(['outgoingwebhook:list', '--data', data, '--json']);
    assert.deepEqual(JSON.parse(listed.stdout), []);
    const meant = await startServer(['--data', data, '--host', '0.0.0.0', '--apply', path,
      '--allow-anonymous']);
    await meant.stop();
  }));

test('a start that cannot apply its file says what apply does, and never listens', () =>
  inFolder(async (folder) => {
    const [path, data] = [join(folder, 'shelf.json'), join(folder, 'data')];
    for (const [text, problem] of [
      ['{', /^hookshelf: \S+shelf\.json: not valid JSON at line 1, column 2: /],
      ['{"incomingWebhooks":[{"pathSegment":"x","actionConfiguration":"nobody"}]}',
        /\/incomingWebhooks\/0\/actionConfiguration: there is no action configuration "nobody"/],
      ['{"incomingWebhooks":[{"pathSegment":"x","secret":{"$file":"absent"}}]}',
        /\/incomingWebhooks\/0\/secret: cannot read \S+absent: ENOENT/],
    ] as const) {
      writeFileSync(path, text);
      const served = await hookshelf(['serve', '--data', data, '--port', '0', '--apply', path]);
      assert.deepEqual([served.code, served.stdout], [2, ''], served.stderr);
      // Before it there may be a line of the log: that the start has made the data directory.
      const message = served.stderr.slice(served.stderr.indexOf('hookshelf: '));
      assert.match(message, problem);
      const applied = await hookshelf(['apply', '--file', path, '--data', data]);
      assert.deepEqual([applied.code, applied.stderr], [1, message]);
    }
    const absent = await hookshelf(['serve', '--data', data, '--apply', join(folder, 'none')]);
    assert.match(absent.stderr, /^hookshelf: cannot read \S+none: ENOENT/);
  }));

for (const [words, problem] of [
  [['--prune'], '--prune is for --apply: name the file with --apply <file>'],
  [['--set', 'a'], '--set is for --apply: name the file with --apply <file>'],
  [['--apply', '-'],
    '--apply takes a file, and not standard input: at SIGHUP and SIGUSR1 it is read again'],
] as const) {
  test(`serve ${words.join(' ')} is refused`, () => inFolder(async (folder) => {
    const { code, stderr } = await hookshelf(['serve', '--data', join(folder, 'data'), ...words]);
    assert.deepEqual([code, stderr], [2, `hookshelf: ${problem}\n`]);
  }));
}

test('elsewhere a token of scope admin applies a file, and another one may not', () =>
  inFolder(async (folder) => {
    const [path, data] = [join(folder, 'shelf.json'), join(folder, 'data')];
    put(path, HOOK);
    const server = await startServer(['--data', data]);
    const words = ['apply', '--file', path, '--server', server.url];
    for (const [scope, code, printed] of [
      ['write', 1, /this needs a token of scope admin, not write/],
      ['admin', 0, /^\+ incoming webhook gh$/m],
    ] as const) {
      const tokenFile = join(folder, scope);
      writeFileSync(tokenFile, (await makeToken(data, scope)).token, { mode: 0o600 });
      const ended = await hookshelf([...words, '--token-file', tokenFile], { environment });
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stdout + ended.stderr, printed);
    }
    const dryRun = await hookshelf(['apply', '--file', path, '--dry-run', '--data', data],
      { environment });
    assert.deepEqual([dryRun.code, dryRun.stdout], [0, '= 2 unchanged\n']);
    await server.stop();
  }));

test('root applies files that it alone may read in a directory of another user', {
  skip: needsRoot,
}, () => inPlace(async ({ vault, data }) => {
  const path = join(vault, 'shelf.json');
  writeFileSync(join(vault, 'secret'), SECRET, { mode: 0o600 });
  // The owner's file is read as the owner, and after root's own.
  writeNobodys(join(data, 'owners'), SECRET);
  put(path, hook('a', { secret: { $file: join(data, 'owners') } }),
    hook('b', { secret: { $file: 'secret' } }));
  const applied = await hookshelf(['apply', '--file', path, '--data', data]);
  assert.equal(applied.code, 0, applied.stderr);
  const server = await startServer(['--data', data, '--apply', path]);
  assert.match(server.stderr(), new RegExp(UNCHANGED));
  assert.match(String((await hangUp(server, REFUSED))['problem']), /EACCES/);
  await server.stop();
}));

test('the owner of a data directory has root read no file that only root may read', {
  skip: needsRoot,
}, () => inPlace(async ({ folder, vault, data }) => {
  writeFileSync(join(vault, 'secret'), SECRET, { mode: 0o600 });
  const path = join(data, 'shelf.json');
  writeNobodys(path, JSON.stringify({
    incomingWebhooks: [{ pathSegment: 'a', secret: { $file: join(folder, 'vault/secret') } }],
  }));
  for (const [exitCode, ...words] of [
    [1, 'apply', '--file'], [2, 'serve', '--port', '0', '--apply'],
  ] as const) {
    const { code, stderr } = await hookshelf([...words, path, '--data', data]);
    assert.equal(code, exitCode);
    assert.match(stderr, /\/incomingWebhooks\/0\/secret: cannot read \S+: EACCES/);
  }
}));

test('a plan that a full disk does not take is not done', {
  skip: process.platform !== 'linux' && 'needs /dev/full',
}, () => inFolder(async (cwd) => {
  const path = join(cwd, 'shelf.json');
  put(path, hook('gh'));
  const words = ['apply', '--file', path, '--data', join(cwd, 'data')];
  const { code, stderr } = await hookshelf([], {
    cwd, program: ['/bin/sh', '-c', 'exec "$0" "$@" > /dev/full', process.execPath, PROGRAM,
      ...words],
  });
  assert.equal(code, 1);
  assert.match(stderr, /^hookshelf: cannot write to standard output: ENOSPC/m);
  const { code: planCode, stdout } = await hookshelf([...words, '--dry-run']);
  assert.deepEqual([planCode, stdout.split('\n').at(-2)], [3, '= 0 unchanged']);
}));
