/**
 * Hooks of adnanh/webhook in the shapes that its users have, converted, applied to a server, and
 * called: a request that was let through there runs the command here, and no other does.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonObject } from '../../src/base/schema.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask, type Question } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

type Call = Question & { readonly query?: string };

type Shape = {
  readonly hook: JsonObject;
  /** The calls that run the command, each with the words that it gets. */
  readonly runs: readonly (readonly [Call, string])[];
  readonly refused: readonly Call[];
  /** What is listed, in order; a hook with any is not called. */
  readonly gaps?: readonly RegExp[];
};

const FORM = 'application/x-www-form-urlencoded';
const payload = (name: string): JsonObject => ({ source: 'payload', name });
const header = (name: string): JsonObject => ({ source: 'header', name });
const is = (parameter: JsonObject, value: string): JsonObject =>
  ({ match: { type: 'value', value, parameter } });
const signed = (hash: string, name: string): JsonObject =>
  ({ match: { type: `payload-hmac-${hash}`, secret: 'the key', parameter: header(name) } });
const digest = (hash: string, body: string, key = 'the key'): string =>
  createHmac(hash, key).update(body).digest('hex');

const PUSH = '{"ref":"refs/heads/main","after":"c0ffee","head_commit":{"id":7},"big":true}';
const OTHER = PUSH.replace('main', 'dev');
const json = (raw: string, headers: Readonly<Record<string, string>> = {}): Call =>
  ({ method: 'POST', raw, headers: { 'content-type': 'application/json', ...headers } });
const signedPush = (
  hash: string, name: string, prefix: string, body = PUSH, key = 'the key',
): Call => json(body, { [name]: prefix + digest(hash, body, key) });

function push(id: string, hash: string, name: string, prefixes: readonly string[]): Shape {
  return {
    hook: {
      id, 'execute-command': '/srv/hooks/record.sh',
      'pass-arguments-to-command': [payload('head_commit.id'), payload('none'), payload('after')],
      'trigger-rule': { and: [signed(hash, name), is(payload('ref'), 'refs/heads/main')] },
    },
    runs: prefixes.map((prefix) => [signedPush(hash, name, prefix), `${id}|7||c0ffee`]),
    refused: [
      signedPush(hash, name, prefixes[0] ?? '', OTHER),
      signedPush(hash, name, prefixes[0] ?? '', PUSH, 'another key'),
      json(PUSH), json(PUSH, { [name]: 'x' }),
    ],
  };
}

function scalrCall(date: string, key = 'the key'): Call {
  return json('{"eventName":"HostUp"}', {
    date, 'x-signature': digest('sha1', `{"eventName":"HostUp"}${date}`, key),
  });
}

const scalrDate = (atMs: number): string =>
  new Date(atMs).toUTCString().replace(', ', ' ').replace('GMT', 'UTC');

function token(id: string, parameter: JsonObject, runs: readonly Call[], refused: readonly Call[]) {
  return {
    hook: {
      id, 'execute-command': '/srv/hooks/record.sh', 'trigger-rule': is(parameter, '42'),
    },
    runs: runs.map((call) => [call, id] as const), refused,
  };
}

const RECORD = '/srv/hooks/record.sh';
const any = (id: string, members: JsonObject): JsonObject =>
  ({ id, 'execute-command': RECORD, ...members });
const listed = (id: string, members: JsonObject, ...gaps: readonly RegExp[]): Shape =>
  ({ hook: any(id, members), runs: [], refused: [json('{"a":"b"}')], gaps });

const SHAPES: readonly Shape[] = [
  push('github-old', 'sha1', 'X-Hub-Signature', ['sha1=', '', `sha1=${'0'.repeat(40)},sha1=`]),
  push('github', 'sha256', 'X-Hub-Signature-256', ['sha256=']),
  push('gogs', 'sha256', 'X-Gogs-Signature', ['']),
  push('gitea', 'sha256', 'X-Gitea-Signature', ['']),
  push('own', 'sha512', 'X-Own', ['sha512=', '']),
  {
    hook: any('addresses', {
      'trigger-rule': { or: ['192.0.2.0/24', '127.0.0.1/32'].map((range) =>
        ({ match: { type: 'ip-whitelist', 'ip-range': range } })) },
      'pass-arguments-to-command': [payload('actor.username')],
    }),
    runs: [[json('{"actor":{"username":"$(id); x"}}'), 'addresses|$(id); x']], refused: [],
  },
  {
    hook: any('elsewhere', {
      'trigger-rule': { match: { type: 'ip-whitelist', 'ip-range': '192.0.2.0/24' } },
    }),
    runs: [], refused: [json('{}')],
  },
  token('gitlab', header('X-Gitlab-Token'),
    [json('{}', { 'X-Gitlab-Token': '42' })], [json('{}'), json('{}', { 'X-Gitlab-Token': '4' })]),
  token('simple', { source: 'url', name: 'token' },
    [{ query: 'token=42' }, { query: 'token=42', method: 'PUT' }], [{}, { query: 'token=43' }]),
  token('slash', payload('token'),
    [
      json('{"token":42}'), json('{"token":"42"}'),
      { ...json('token=42&text=hi'), headers: { 'content-type': FORM } },
    ],
    [json('{"token":"43"}'), { ...json('token=43'), headers: { 'content-type': FORM } }, {}]),
  token('synology', header('api_key'), [json('{}', { api_key: '42' })], [json('{}')]),
  {
    hook: {
      id: 'file', 'execute-command': '/srv/hooks/cat.sh',
      'include-command-output-in-response': true,
      'pass-file-to-command': [
        { ...payload('binary'), envname: 'FILE', base64decode: true }, payload('name'),
      ],
    },
    runs: [], refused: [],
  },
  {
    hook: any('scalr', {
      'trigger-rule': { match: { type: 'scalr-signature', secret: 'the key' } },
      'pass-environment-to-command': [{ ...payload('eventName'), envname: 'WORD' }],
    }),
    runs: [
      [scalrCall(scalrDate(Date.now())), 'scalr|HostUp'],
      [scalrCall(new Date(Date.now() - 100_000).toUTCString()), 'scalr|HostUp'],
    ],
    refused: [scalrCall(scalrDate(Date.now() - 400_000)), scalrCall(scalrDate(Date.now()), 'no')],
  },
  {
    hook: any('list', { 'trigger-rule': is(payload('root.1.event'), 'deferred') }),
    runs: [[json('[{"event":"a"},{"event":"deferred"}]'), 'list']],
    refused: [json('[{"event":"deferred"}]'), json('{"event":"deferred"}')],
  },
  {
    hook: any('words', {
      'pass-arguments-to-command': [
        { source: 'string', name: '-e' }, { source: 'string', name: '{"a":1} $HOME' },
        payload('pusher.email'), { source: 'query', name: 'q' }, header('X-One'),
      ],
    }),
    runs: [[
      { ...json('{"pusher":{"email":"a@b"}}', { 'X-One': 'h' }), query: 'q=a%20b' },
      'words|-e|{"a":1} $HOME|a@b|a b|h',
    ]],
    refused: [],
  },
  {
    hook: any('acr', {
      'http-methods': ['post ', 'PUT'],
      'trigger-rule': {
        and: [is(header('X-Static-Token'), 'the key'), is(payload('action'), 'push')],
      },
      'pass-environment-to-command': [{ ...payload('target.tag'), envname: 'WORD' }],
    }),
    runs: [[
      json('{"action":"push","target":{"tag":"v1"}}', { 'X-Static-Token': 'the key' }), 'acr|v1',
    ]],
    refused: [
      json('{"action":"push"}'), json('{"action":"delete"}', { 'X-Static-Token': 'the key' }),
      { ...json('{"action":"push"}', { 'X-Static-Token': 'the key' }), method: 'PATCH' },
    ],
  },
  {
    hook: any('loose', {
      'trigger-rule': {
        or: [is(payload('n'), '42'), is(payload('on'), 'true'), { not: is(payload('a.b'), 'c') }],
      },
    }),
    runs: ['{"n":42,"a":{"b":"c"}}', '{"n":"42","a":{"b":"c"}}', '{"on":true,"a":{"b":"c"}}', '{}']
      .map((body) => [json(body), 'loose']),
    refused: [json('{"n":43,"on":false,"a":{"b":"c"}}'), json('{"a":null}')],
  },
  {
    hook: any('travis', {
      'parse-parameters-as-json': [payload('payload')],
      'trigger-rule': is(payload('payload.state'), 'passed'),
    }),
    runs: [[
      { ...json('payload=%7B%22state%22%3A%22passed%22%7D'), headers: { 'content-type': FORM } },
      'travis',
    ]],
    refused: [{ ...json('payload=passed'), headers: { 'content-type': FORM } }],
  },
  listed('xml', { 'trigger-rule': is(payload('app.user.0.-name'), 'b') }, /XML.*\(disabled\)$/),
  listed('before', { 'pre-hook-command': '/bin/true' }, /\/pre-hook-command: /),
  listed('pattern', {
    'trigger-rule': {
      match: { type: 'regex', regex: '^refs/heads/.*$', parameter: payload('ref') },
    },
  }, /regular expression .*"op":"prefix","value":"refs\/heads\/"/),
  listed('template', {
    'pass-arguments-to-command': [{ source: 'template', name: '{{ .Payload.a }}' }],
  }, /templates of Go/),
];

const folder = createTemporaryFolder();
const log = join(folder, 'log');
let server: Running;
let listedLines: readonly string[] = [];
after(() => server.stop());

before(async () => {
  writeScript('record.sh', `{ printf %s "$HOOKSHELF_HOOK\${WORD+|$WORD}"
    for word in "$@"; do printf '|%s' "$word"; done; echo; } >> '${log}'`);
  writeScript('cat.sh', 'cat "$FILE" "$HOOK_NAME"');
  writeFileSync(log, '');
  // As people write it: with comments, and commas at the ends of lists.
  const text = JSON.stringify(SHAPES.map(({ hook }) => hook), null, 1);
  writeFileSync(join(folder, 'hooks.json'), `// mine\n${text.replace(/\n\]$/, ', /* last */\n]')}`);
  const converted = await hookshelf(
    ['config:convert', '--from', 'adnanh', join(folder, 'hooks.json')]);
  assert.equal(converted.code, 3, converted.stderr);
  assert.ok(!converted.stdout.includes('the key'));
  listedLines = converted.stderr.split('\n').map((line) => line.replace(/^hookshelf: /, ''));
  writeFileSync(join(folder, 'shelf.json'), converted.stdout);
  const environment = /ACTIONS_ENVIRONMENT='(.*)'/.exec(converted.stderr)?.[1]?.split(',');
  const settings = { actions: { commandDirectory: join(folder, 'commands'), environment } };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  const secrets = [...converted.stdout.matchAll(/"\$env": "(\w+)"/g)].map(([, name = '']) =>
    [name, /SIMPLE|SLASH|GITLAB|SYNOLOGY/.test(name) ? '42' : 'the key']);
  server = await startServer(
    ['--data', join(folder, 'data'), '--config', join(folder, 'settings.json'),
      '--apply', join(folder, 'shelf.json')],
    { environment: Object.fromEntries(secrets) });
});

function writeScript(name: string, text: string): void {
  const directory = join(folder, 'commands');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(directory, name), 0o700);
}

const call = (id: unknown, { query, ...question }: Call) =>
  ask(`${server.url}/webhook/in/${String(id)}${query === undefined ? '' : `?${query}`}`, question);

test('the requests of each hook run its command, and no others do', async () => {
  const expected: string[] = [];
  for (const { hook, runs, refused } of SHAPES) {
    for (const question of refused) {
      await call(hook['id'], question);
      const wanted = readFileSync(log, 'utf8');
      assert.ok(wanted.split('\n').length - 1 <= expected.length, String(hook['id']));
    }
    for (const [question, words] of runs) {
      const { status, text } = await call(hook['id'], question);
      assert.equal(status, 200, `${String(hook['id'])}: ${text}`);
      expected.push(words);
    }
  }
  await until('all have run', async () => {
    const { text } = await ask(`${server.url}/api/requests?status=pending`);
    return text.trim() === '[]';
  });
  let lines = readFileSync(log, 'utf8').trimEnd();
  for (const { identifier, pathSegment } of await listWebhooks()) {
    lines = lines.replaceAll(identifier, pathSegment);
  }
  assert.deepEqual(lines.split('\n').sort(), expected.sort());
});

type WebhookView = {
  readonly identifier: string; readonly pathSegment: string; readonly enabled: boolean;
};

async function listWebhooks(): Promise<readonly WebhookView[]> {
  const { text } = await ask(`${server.url}/api/incoming-webhooks?limit=100`);
  return JSON.parse(text);
}

test('a hook that answers with the output of its command does so', async () => {
  const body = { binary: Buffer.from([0x68, 0x69, 0x0a]).toString('base64'), name: 'there' };
  const { status, text } = await call('file', { method: 'POST', body });
  assert.equal(status, 200, text);
  assert.equal(text, 'hi\nthere');
});

test('what has no counterpart is listed with its place, and nothing else is', () => {
  const patterns = SHAPES.flatMap(({ gaps = [] }) => gaps);
  const gaps = listedLines.filter((line) => /^[\w-]+: \/\d/.test(line));
  assert.deepEqual(gaps.map((line, index) => patterns[index]?.test(line) ?? false),
    patterns.map(() => true), gaps.join('\n'));
});

test('a webhook of which a part is listed is disabled', async () => {
  const webhooks = await listWebhooks();
  const disabled = webhooks.filter(({ enabled }) => !enabled).map(({ pathSegment }) => pathSegment);
  assert.deepEqual(disabled.sort(), SHAPES.filter(({ gaps }) => gaps !== undefined)
    .map(({ hook }) => String(hook['id'])).sort());
});
