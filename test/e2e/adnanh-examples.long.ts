/**
 * The 17 hooks that the documentation of adnanh/webhook has as examples, in our words, converted
 * from one file and applied to one server, with the environment that is written beside it. Each
 * gets what its sender sends: its command runs with its arguments, variables and folder, and for no
 * other request, and each is answered as there. The one that needs XML is listed, and disabled.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonObject, JsonValue } from '../../src/base/schema.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask, type Question } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

type Call = Question & { readonly query?: string };

type Example = {
  readonly hook: JsonObject;
  readonly running: Call;
  /** What the command writes of its run: its words, its variables and its folder. */
  readonly record: string;
  /** Requests for which nothing may run, each with the status of its answer. */
  readonly others: readonly (readonly [Call, number])[];
  readonly message?: string;
  /** Whether it is listed, and disabled. */
  readonly isListed?: boolean;
};

const folder = createTemporaryFolder();
const goFolder = join(folder, 'go');
const serverFolder = join(folder, 'server');
const listedFolder = join(folder, 'listed');
const synologyFolder = join(folder, 'synology');
const SECRET = 'the key of all senders';

const payload = (name: string): JsonObject => ({ source: 'payload', name });
const header = (name: string): JsonObject => ({ source: 'header', name });
const value = (parameter: JsonObject, text: string): JsonObject =>
  ({ match: { type: 'value', value: text, parameter } });
const signature = (hash: string, name: string): JsonObject => ({
  match: { type: `payload-hmac-${hash}`, secret: SECRET, parameter: header(name) },
});
const redeploy = (members: JsonObject): JsonObject => ({
  'execute-command': '/home/ada/redeploy.sh', 'command-working-directory': goFolder, ...members,
});
const deployment = (members: JsonObject): JsonObject => ({
  'execute-command': join(serverFolder, 'deployment.sh'),
  'command-working-directory': serverFolder, ...members,
});

const json = (body: JsonValue, headers: Readonly<Record<string, string>> = {}): Call =>
  ({ method: 'POST', body, headers });
const form = (fields: Readonly<Record<string, string>>): Call => ({
  method: 'POST', raw: String(new URLSearchParams(fields)),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const digest = (hash: string, text: string, key = SECRET): string =>
  createHmac(hash, key).update(text).digest('hex');

function push(branch: string): JsonObject {
  return {
    ref: `refs/heads/${branch}`, head_commit: { id: 'c0ffee' },
    pusher: { name: 'ada', full_name: 'Ada $(id) "L"', email: 'ada@example.com' },
  };
}

/** A hook for pushes to a branch, by a sender that signs them. */
function pushes(
  id: string, { hash, headerName, prefix = '', branch, nameMember }: {
    readonly hash: string; readonly headerName: string; readonly prefix?: string;
    readonly branch: string; readonly nameMember: 'name' | 'full_name';
  },
): Example {
  const signed = (body: JsonObject, key = SECRET): Call =>
    json(body, { [headerName]: prefix + digest(hash, JSON.stringify(body), key) });
  const name = nameMember === 'name' ? 'ada' : 'Ada $(id) "L"';
  return {
    hook: redeploy({
      id,
      'pass-arguments-to-command':
        [payload('head_commit.id'), payload(`pusher.${nameMember}`), payload('pusher.email')],
      'trigger-rule':
        { and: [signature(hash, headerName), value(payload('ref'), `refs/heads/${branch}`)] },
    }),
    running: signed(push(branch)), record: `redeploy.sh|c0ffee|${name}|ada@example.com|in go`,
    others: [
      [signed(push('dev')), 200], [signed(push(branch), 'another key'), 401],
      [json(push(branch)), 401], [json({ zen: 'ping' }), 401],
    ],
  };
}

function scalr(atMs: number, key?: string): Call {
  const body = { eventName: 'HostUp', data: { SCALR_SERVER_HOSTNAME: 'a.example' } };
  const date = new Date(atMs).toUTCString().replace(', ', ' ').replace('GMT', 'UTC');
  return json(body, { date, 'x-signature': digest('sha1', JSON.stringify(body) + date, key) });
}

const SENDERS_ADDRESS = { 'x-forwarded-for': '192.0.2.250' };
const GITEA = {
  hash: 'sha256', headerName: 'X-Gitea-Signature', branch: 'main', nameMember: 'full_name',
} as const;
const NAMED_TOKEN = '<a token of the sender>';
const TARGET = { repository: 'shelf', tag: 'v1', digest: 'sha256:c0ffee' };

const EXAMPLES: readonly Example[] = [
  pushes('github', {
    hash: 'sha1', headerName: 'X-Hub-Signature', prefix: 'sha1=', branch: 'master',
    nameMember: 'name',
  }),
  {
    hook: redeploy({
      id: 'bitbucket', 'pass-arguments-to-command': [payload('actor.username')],
      'trigger-rule': {
        or: ['198.51.100.96/28', '192.0.2.240/28', '203.0.113.224/28'].map((range) =>
          ({ match: { type: 'ip-whitelist', 'ip-range': range } })),
      },
    }),
    running: json({ actor: { username: 'ada' } }, SENDERS_ADDRESS), record: 'redeploy.sh|ada|in go',
    others: [[json({ actor: { username: 'ada' } }), 403]],
  },
  {
    hook: redeploy({
      id: 'gitlab', 'pass-arguments-to-command': [payload('user_name')],
      'response-message': 'redeploying', 'trigger-rule': value(header('X-Gitlab-Token'), SECRET),
    }),
    running: json({ user_name: 'Ada' }, { 'X-Gitlab-Token': SECRET }),
    record: 'redeploy.sh|Ada|in go', message: 'redeploying',
    others: [[json({ user_name: 'Ada' }, { 'X-Gitlab-Token': 'no' }), 401], [json({}), 401]],
  },
  pushes('gogs', {
    hash: 'sha256', headerName: 'X-Gogs-Signature', branch: 'master', nameMember: 'name',
  }),
  pushes('gitea', GITEA),
  // Its second form, which is YAML there.
  pushes('gitea-yaml', GITEA),
  // None of the examples has this hash.
  pushes('sha512', {
    hash: 'sha512', headerName: 'X-Own', prefix: 'sha512=', branch: 'main', nameMember: 'name',
  }),
  {
    hook: redeploy({
      id: 'slash-command', 'response-message': 'redeploying',
      'trigger-rule': value(payload('token'), SECRET),
    }),
    running: form({ token: SECRET, command: '/redeploy', text: 'now please' }),
    record: 'redeploy.sh|in go', message: 'redeploying',
    others: [[form({ token: 'no', command: '/redeploy' }), 401], [form({}), 401]],
  },
  {
    hook: {
      id: 'simple', 'execute-command': '/srv/command.sh', 'response-message': 'simple',
      'trigger-rule': value({ source: 'url', name: 'token' }, SECRET),
    },
    running: { query: `token=${encodeURIComponent(SECRET)}` },
    record: 'command.sh|in work', message: 'simple',
    others: [[{}, 401], [{ query: 'token=no' }, 401]],
  },
  {
    hook: {
      id: 'file', 'execute-command': '/bin/ls', 'command-working-directory': listedFolder,
      'pass-file-to-command': [{ ...payload('binary'), envname: 'FILE', base64decode: true }],
      'include-command-output-in-response': true,
    },
    // Its output is in its answer: see the test of that.
    running: json({ binary: Buffer.from('bytes').toString('base64') }), record: '', others: [],
  },
  {
    hook: redeploy({
      id: 'scalr', 'include-command-output-in-response': true,
      'trigger-rule': { match: { type: 'scalr-signature', secret: SECRET } },
      'pass-environment-to-command': [
        { ...payload('eventName'), envname: 'EVENT_NAME' },
        { ...payload('data.SCALR_SERVER_HOSTNAME'), envname: 'SERVER_HOSTNAME' },
      ],
    }),
    running: scalr(Date.now()),
    record: 'redeploy.sh|EVENT_NAME=HostUp|SERVER_HOSTNAME=a.example|in go',
    others: [[scalr(Date.now() - 400_000), 401], [scalr(Date.now(), 'another key'), 401]],
  },
  {
    hook: deployment({
      id: 'travis', 'parse-parameters-as-json': [payload('payload')],
      'trigger-rule': {
        and: [
          value(payload('payload.state'), 'passed'), value(payload('payload.branch'), 'master'),
        ],
      },
    }),
    running: form({ payload: '{"state":"passed","branch":"master"}' }),
    record: 'deployment.sh|in server',
    others: [[form({ payload: '{"state":"failed","branch":"master"}' }), 200]],
  },
  {
    hook: deployment({
      id: 'array', 'trigger-rule': value(payload('root.1.event'), 'deferred'),
    }),
    running: json([{ event: 'processed' }, { event: 'deferred' }]),
    record: 'deployment.sh|in server',
    others: [[json([{ event: 'deferred' }, { event: 'processed' }]), 200], [json({}), 200]],
  },
  {
    hook: deployment({
      id: 'xml',
      'trigger-rule': {
        and: [
          value(payload('app.users.user.0.-name'), 'Ada'),
          value(payload('app.messages.message.#text'), 'Hello'),
        ],
      },
    }),
    running: { method: 'POST', raw: '<app/>', headers: { 'content-type': 'application/xml' } },
    record: '', isListed: true, others: [],
  },
  {
    hook: {
      id: 'multipart', 'execute-command': 'play.sh',
      'parse-parameters-as-json': [payload('payload')],
      'trigger-rule': value(payload('payload.event'), 'media.play'),
    },
    running: {
      method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=b' },
      raw: '--b\r\ncontent-disposition: form-data; name="payload"\r\n\r\n{"event":"media.play"}'
        + '\r\n--b--\r\n',
    },
    record: 'play.sh|in work', others: [[json({ event: 'media.play' }), 200]],
  },
  {
    hook: redeploy({
      id: 'words',
      'pass-arguments-to-command': [
        { source: 'string', name: '-e' }, { source: 'string', name: '123' },
        payload('pusher.email'),
      ],
    }),
    running: json(push('main')), record: 'redeploy.sh|-e|123|ada@example.com|in go', others: [],
  },
  {
    hook: {
      id: 'synology', 'execute-command': 'notify.sh', 'command-working-directory': synologyFolder,
      'response-message': 'accepted', 'pass-arguments-to-command': [payload('message')],
      'trigger-rule': value(header('api_key'), NAMED_TOKEN),
    },
    running: json({ message: 'disk; full' }, { api_key: NAMED_TOKEN }),
    record: 'notify.sh|disk; full|in synology', message: 'accepted',
    others: [[json({ message: 'disk full' }, { api_key: 'no' }), 401], [json({}), 401]],
  },
  {
    hook: {
      id: 'registry', 'execute-command': '/config/registry.sh',
      'command-working-directory': serverFolder,
      'pass-environment-to-command': [
        { ...payload('action'), envname: 'ACTION' },
        { ...payload('target.repository'), envname: 'REPO' },
        { ...payload('target.tag'), envname: 'TAG' },
        { ...payload('target.digest'), envname: 'DIGEST' },
      ],
      'trigger-rule': {
        and: [value(header('X-Static-Token'), SECRET), value(payload('action'), 'push')],
      },
    },
    running: json({ action: 'push', target: TARGET }, { 'X-Static-Token': SECRET }),
    record: 'registry.sh|ACTION=push|REPO=shelf|TAG=v1|DIGEST=sha256:c0ffee|in server',
    others: [
      [json({ action: 'delete', target: TARGET }, { 'X-Static-Token': SECRET }), 200],
      [json({ action: 'push', target: TARGET }, { 'X-Static-Token': 'no' }), 401],
      [json({ action: 'push', target: TARGET }), 401],
    ],
  },
];

const VARIABLES = ['ACTION', 'REPO', 'TAG', 'DIGEST', 'EVENT_NAME', 'SERVER_HOSTNAME'];
const recordsPath = join(folder, 'records');
/** Appends a line at once: several commands may do so at the same time. */
const RECORDING = `#!/bin/sh
line="$(basename "$0")"
for word in "$@"; do line="$line|$word"; done
for name in ${VARIABLES.join(' ')}; do
  eval "text=\\\${$name-}"
  if [ -n "$text" ]; then line="$line|$name=$text"; fi
done
printf '%s|in %s\\n' "$line" "$(basename "$PWD")" >> '${recordsPath}'
`;

let server: Running;
let conversion: { readonly code: number | null; readonly lines: readonly string[] };
after(() => server.stop());

before(async () => {
  const commandFolder = join(folder, 'commands');
  for (const path of [commandFolder, goFolder, serverFolder, listedFolder, synologyFolder]) {
    mkdirSync(path, { mode: 0o700 });
  }
  writeFileSync(join(listedFolder, 'there'), '');
  for (const name of [
    'redeploy.sh', 'command.sh', 'deployment.sh', 'play.sh', 'notify.sh', 'registry.sh',
  ]) {
    writeFileSync(join(commandFolder, name), RECORDING);
    chmodSync(join(commandFolder, name), 0o700);
  }
  symlinkSync('/bin/ls', join(commandFolder, 'ls'));
  const hooksPath = join(folder, 'hooks.json');
  writeFileSync(hooksPath, JSON.stringify(EXAMPLES.map(({ hook }) => hook)));
  const environmentPath = join(folder, 'hooks.env');
  const { code, stdout, stderr } = await hookshelf(
    ['config:convert', '--from', 'adnanh', hooksPath, '--environment-file', environmentPath]);
  conversion = { code, lines: stderr.split('\n').map((line) => line.replace('hookshelf: ', '')) };
  writeFileSync(join(folder, 'shelf.json'), stdout);
  server = await startServer(
    ['--data', join(folder, 'data'), '--apply', join(folder, 'shelf.json')], {
      environment: { ...readEnvironment(environmentPath), HOOKSHELF_SERVER_TRUST_PROXY: 'true' },
    });
});

/** The variables of a file, as a shell reads them. */
function readEnvironment(path: string): Record<string, string> {
  const text = execFileSync('/bin/sh', ['-c', `set -a; . '${path}'; env -0`], { env: {} });
  return Object.fromEntries(text.toString().split('\0').flatMap((line) => {
    const [, name = '', value = ''] = /^(\w+)=([^]*)$/.exec(line) ?? [];
    return name === '' || name === 'PWD' ? [] : [[name, value]];
  }));
}

const idOf = ({ hook }: Example): string => String(hook['id']);
const call = (example: Example, { query, ...question }: Call): ReturnType<typeof ask> =>
  ask(`${server.url}/hooks/${idOf(example)}${query === undefined ? '' : `?${query}`}`,
    question);

/** What has run, once nothing waits any more; the list begins anew. */
async function takeRecords(): Promise<readonly string[]> {
  await until('all has run', async () =>
    (await ask(`${server.url}/api/requests?status=pending`)).text.trim() === '[]');
  const text = existsSync(recordsPath) ? readFileSync(recordsPath, 'utf8') : '';
  writeFileSync(recordsPath, '');
  return text.split('\n').filter((line) => line !== '').sort();
}

/** Has every request sent that should run nothing, and then the one that should run. */
async function checkRuns(examples: readonly Example[]): Promise<void> {
  for (const example of examples) {
    for (const [question, status] of example.others) {
      const answer = await call(example, question);
      assert.equal(answer.status, status, `${idOf(example)}: ${answer.text}`);
    }
  }
  assert.deepEqual(await takeRecords(), []);
  for (const example of examples) {
    const { status, text } = await call(example, example.running);
    assert.equal(status, 200, `${idOf(example)}: ${text}`);
    assert.doesNotMatch(text, /Filtered/, idOf(example));
    if (example.message !== undefined) assert.equal(text, example.message, idOf(example));
  }
  assert.deepEqual(await takeRecords(),
    examples.flatMap(({ record }) => record === '' ? [] : [record]).sort());
}

test('each example but that of XML runs its command for its sender alone', () =>
  checkRuns(EXAMPLES.filter(({ isListed }) => isListed !== true)));

test('the example that answers with the output of its command does so', async () => {
  const example = EXAMPLES.find((candidate) => idOf(candidate) === 'file');
  assert.ok(example !== undefined);
  const { text } = await call(example, example.running);
  assert.equal(text, 'there\n');
});

test('that of XML is listed, and no request runs its command', async () => {
  assert.equal(conversion.code, 3);
  const listedIds = conversion.lines.flatMap((line) =>
    /^([\w-]+): \/\d+\/.*\(disabled\)$/.exec(line)?.[1] ?? []);
  const examples = EXAMPLES.filter(({ isListed }) => isListed === true);
  assert.deepEqual([...new Set(listedIds)], examples.map(idOf));
  for (const example of examples) {
    assert.equal((await call(example, example.running)).status, 404, idOf(example));
  }
  assert.deepEqual(await takeRecords(), []);
});
