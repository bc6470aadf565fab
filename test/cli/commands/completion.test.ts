/** What `completion:words` says may stand at the end of a line. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { WRITTEN_FORMATS } from '../../../src/books/transfer/format-list.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { createDelivery, createRouteDelivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { encodeDelivery } from '../../../src/webhooks/deliveries/delivery-codec.ts';
import { encodeEvent } from '../../../src/webhooks/deliveries/event-record.ts';
import { encodeForward } from '../../../src/webhooks/deliveries/queued-forward.ts';
import { withAppStore } from '../../support/app-store.ts';
import { HOSTILE_NAMES } from '../../support/hostile-names.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { runCommand } from '../io.ts';
import { ALL_WAYS, inPlace } from '../place.ts';

type Completed = {
  readonly completes?: string;
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
};

/** The words that a shell would offer: those that begin as the last word of the line. */
async function complete(
  line: string | readonly string[], environment: Readonly<Record<string, string>> = {},
): Promise<Completed & { readonly offered: readonly string[]; readonly code: number }> {
  const words = typeof line === 'string' ? line.split(' ') : line;
  const { code, stdout } = await runCommand(['completion:words', '--json', '--', ...words],
    { environment: { HOOKSHELF_DATA: '/nowhere/at/all', ...environment } });
  const completed: Completed = JSON.parse(stdout);
  const offered = completed.words.map(({ word }) => word)
    .filter((word) => word.startsWith(words.at(-1) ?? ''));
  return { ...completed, offered, code };
}

const NAMES = COMMANDS.map(({ name }) => name);
const FORMATS = WRITTEN_FORMATS.map(({ name }) => name);
const SHOW_OPTIONS = [
  'config', 'data', 'debug', 'help', 'id', 'identifier', 'json', 'server', 'token-file',
];
const SERVE_OPTIONS = [
  'allow-anonymous', 'apply', 'config', 'data', 'debug', 'help', 'host', 'json', 'keep',
  'max-memory', 'no-overlap', 'paused', 'port', 'prune', 'set', 'yes',
];
const HELP_OPTIONS = ['config', 'data', 'debug', 'help', 'json'];

const OFFERS: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['', NAMES],
  ['book:im', ['book:import']],
  ['sett', ['settings:show']],
  ['--', dashed([...SERVE_OPTIONS, 'version'])],
  ['-p', ['-p']],
  ['serve --', dashed(SERVE_OPTIONS)],
  ['--data shelf del', NAMES.filter((name) => name.startsWith('delivery:'))],
  ['--data=shelf del', NAMES.filter((name) => name.startsWith('delivery:'))],
  ['-p 9000 --allow', ['--allow-anonymous']],
  ['book:show --', dashed(SHOW_OPTIONS)],
  ['--json book:show --id', ['--id', '--identifier']],
  ['book:export --format ', FORMATS],
  ['book:export --format=j', ['--format=json', '--format=jsonl', '--format=jsonld']],
  ['--format json book:export --form', []],
  ['book:import --match ', ['isbn', 'source', 'title']],
  ['book:list --limit ', []],
  ['book:list --json=', []],
  ['book:list a', []],
  ['token:create --name help --sc', ['--scope']],
  ['token:create --scope read --sc', []],
  ['outgoingwebhook:create --header a --he', ['--header', '--headers-file', '--help']],
  ['delivery:list --status p', ['pending']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['completion bash --', dashed(HELP_OPTIONS)],
  ['help data:ba', ['data:backup']],
  ['book:list --sort ', ['author', 'createdAt', 'datePublished', 'finishedOn', 'id', 'rating',
    'series', 'title', 'updatedAt']],
  ['actionconfig:create --identifier ', []],
  ['help book:import --', dashed(HELP_OPTIONS)],
  ['help book:import ', [...dashed(HELP_OPTIONS), '-h']],
  ['book:show some --id', []],
  ['nonsense ', []],
  ['nonsense --', []],
];

test('offers commands, options, and values that have choices', async () => {
  for (const [line, words] of OFFERS) {
    const { offered, code } = await complete(line);
    assert.deepEqual([[...offered].sort(), code], [[...words].sort(), 0], line);
  }
});

test('says which files or values are to be looked up', async () => {
  for (const [line, completes] of [
    ['book:export --file bo', 'file'], ['book:export --file=bo', 'file'],
    ['apply --file -', 'file'], ['serve --apply bo', 'file'], ['data:restore --from ', 'file'],
    ['config:convert ho', 'file'], ['book:export --data ', 'folder'], ['--data ', 'folder'],
    ['book:show ', 'books'], ['book:show --id x', 'books'], ['book:show --id=x', 'books'],
    ['token:revoke ', 'tokens'], ['incomingwebhook:show ', 'incoming-webhooks'],
    ['incomingwebhook:create --action-config ', 'action-configurations'],
    ['actionconfig:create --action act', 'actions'], ['event:show --payload ', 'events'],
    ['delivery:list --hook ', 'outgoing-webhooks'], ['delivery:retry --failed ', 'deliveries'],
  ] as const) {
    assert.equal((await complete(line)).completes, completes, line);
  }
});

test('says what a command and an option do', async () => {
  const { stdout } = await runCommand(['completion:words', '--', 'doc']);
  const spec = COMMANDS.find(({ name }) => name === 'doctor');
  assert.ok(stdout.split('\n').includes(`doctor\t${spec?.summary}`));
  const options = await runCommand(['completion:words', '--', 'serve', '-']);
  assert.match(options.stdout, /^--port\tport to listen on .*\n-p\tport to listen on /m);
  const path = await runCommand(['completion:words', '--', 'apply', '--file', '']);
  assert.deepEqual(path, { code: 0, stdout: 'file\n', stderr: '' });
});

test('words of a line that another command would refuse are no options of its own', async () => {
  for (const line of ['book:list --json --debug --help --', '--version --', '--unknown --']) {
    assert.ok((await complete(line)).words.length > 0, line);
  }
});

// Without a server the values are read from the files.
for (const way of ALL_WAYS) {
  test(`lists the values of each kind for completion, ${way}`, () => inPlace(way, async (place) => {
    const values = async (command: string, option = '--id'): Promise<readonly string[]> =>
      (await complete([...place.location, command, option, ''])).offered;
    const made = async (...words: string[]): Promise<string> => {
      const { id, identifier } = await place.json(words);
      return String(id ?? identifier);
    };
    await made('actionconfig:create', '--action', 'log', '--identifier', 'to-log');
    assert.deepEqual(await values('incomingwebhook:create', '--action-config'), ['to-log']);
    assert.ok((await values('actionconfig:create', '--action')).includes('http-forward'));
    const book = await made('book:add', '--input', '{"title":"a"}');
    assert.deepEqual(await values('book:show'), [book]);
    const hook = await made(
      'incomingwebhook:create', '--path-segment', 'deploy', '--action-config', 'to-log');
    assert.deepEqual(await values('incomingwebhook:show'), ['deploy', hook]);
    const target = await made(
      'outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9', '--trigger-event', 'a.b',
      '--name', 'crm');
    assert.deepEqual(await values('delivery:list', '--hook'), ['crm', target]);
    const emitted = await place.json(['event:emit', '--name', 'a.b', '--payload', '1']);
    assert.deepEqual(await values('delivery:show'), emitted['deliveries']);
    assert.deepEqual(await values('event:show'), [emitted['event']]);
    const token = await made('token:create', '--name', 'ci', '--scope', 'read');
    if (way === 'over the network') {
      const { stdout, stderr } = await runCommand(
        ['completion:words', '--', ...place.location, 'token:revoke', '']);
      assert.match(stdout, /^--identifier\t/, 'options instead');
      assert.match(stderr, /works only on a data directory of this machine/);
    } else {
      assert.deepEqual(await values('token:revoke'), [token]);
    }
  }));
}

test('from files completion offers no forward as an event, and no route delivery', async () => {
  const data = join(createTemporaryFolder(), 'data');
  const event = '01890000-0000-7000-8000-000000000001';
  const forward = '01890000-0000-7000-8000-000000000002';
  const delivery = '01890000-0000-7000-8000-000000000003';
  const createdAt = '2026-01-01T00:00:00.000Z';
  await withAppStore(data, (store) => store.transact((transaction) => {
    transaction.put('events', event, encodeEvent({
      identifier: event, createdAt, name: 'a.b', source: 'api', hops: 0, webhookIds: [],
    }, '1'));
    transaction.put('events', forward, encodeForward({ identifier: forward, createdAt },
      { url: 'http://there/', method: 'POST', headers: {}, body: null }));
    transaction.put('deliveries', delivery, encodeDelivery(createDelivery(
      { identifier: delivery, hook: null, event: null, eventId: forward }, createdAt)), true);
    const route = createRouteDelivery({ id: event, hook: 'hook' }, 0, 'default', createdAt);
    transaction.put('deliveries', route.identifier, encodeDelivery(route));
  }));
  for (const [command, id] of [['event:show', event], ['delivery:show', delivery]] as const) {
    const { offered, code } = await complete(['--data', data, command, '']);
    assert.deepEqual([code, offered], [0, [id]]);
  }
});

test('completion asks no socket outside of the data directory', async () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  await runCommand(['book:add', '--input', '{"title":"a"}', '--data', data]);
  let calls = 0;
  const agent = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  const path = join(folder, 'agent.sock');
  await new Promise<void>((resolve) => agent.listen(path, resolve));
  try {
    symlinkSync(path, join(data, 'control.sock'));
    for (const socketPath of [path, join(data, 'control.sock')]) {
      writeFileSync(join(data, 'lock'), JSON.stringify({ pid: 1, kind: 'server', socketPath }));
      const { code, offered } = await complete(['--data', data, 'book:show', '--id', '']);
      assert.deepEqual([code, offered.length, calls], [0, 1, 0], socketPath);
    }
  } finally {
    agent.close();
  }
});

test('completion obeys no settings file of a folder, and changes nothing there', async () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  let calls = 0;
  const elsewhere = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  try {
    await runCommand(['book:add', '--input', '{"title":"a"}', '--data', data]);
    const address = elsewhere.address();
    assert.ok(address !== null && typeof address === 'object');
    writeFileSync(join(folder, 'password'), 'secret', { mode: 0o600 });
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ store: {
      url: `postgres://user@127.0.0.1:${address.port}/db`,
      passwordFile: join(folder, 'password'),
    } }));
    rmSync(join(data, 'lock'));
    const names = readdirSync(data).sort();
    const { code, offered } = await complete(['--data', data, 'book:show', '--id', '']);
    assert.deepEqual([code, offered.length], [0, 1]);
    assert.equal(calls, 0);
    assert.deepEqual(readdirSync(data).sort(), names);
  } finally {
    elsewhere.close();
  }
});

test('offers plain words alone, whatever a server sends', async () => {
  const server = createHttpServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify([...HOSTILE_NAMES, 'plain'].map((name) => ({ name }))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const { stdout, stderr } = await runCommand(['completion:words', '--',
      '--server', `http://127.0.0.1:${address.port}`, 'delivery:list', '--hook', '']);
    assert.deepEqual([stdout, stderr], ['plain\t\n', '']);
  } finally {
    server.close();
  }
});

test('looks below the home directory for a path that begins with ~', async () => {
  const home = createTemporaryFolder();
  await runCommand(['book:add', '--input', '{"title":"a"}', '--data', join(home, 'data')]);
  const { offered } = await complete('--data ~/data book:show --id ', { HOME: home });
  assert.equal(offered.length, 1);
});

function dashed(names: readonly string[]): string[] {
  return names.map((name) => `--${name}`);
}
