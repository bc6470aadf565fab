/** Two hundred messages that no honest program sends: each gets an error, and nothing breaks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAppServer } from '../support/app-server.ts';
import { runCommand } from '../cli/io.ts';
import { META, OPEN, VERSION, createSpeaker } from './speaker.ts';

type Hostile = { readonly raw: string; readonly headers: Record<string, string> };

const OLD = { 'mcp-protocol-version': '2025-11-25' };
const NEW = { 'mcp-protocol-version': VERSION };
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

/** A request of the old era, but for what is wrong in it. */
function old(members: object): Hostile {
  return { raw: JSON.stringify({ jsonrpc: '2.0', id: 1, ...members }), headers: OLD };
}

function toolCall(name: unknown, args: unknown): Hostile {
  return old({ method: 'tools/call', params: { name, arguments: args } });
}

const TEXTS = [
  'null', 'true', '1', '"x"', '[]', '{}', '', '\ufeff', '\0', 'NaN', '{"jsonrpc":"2.0"}', DEEP,
  `{"a":${DEEP}}`, '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', `"${'x'.repeat(10 << 20)}"`,
];
const METHODS: readonly unknown[] = [
  null, 1, {}, [], true, '__proto__', 'constructor', 'toString', 'tools/list ', 'TOOLS/LIST', '',
  'logging/setLevel', 'completion/complete', 'tasks/list', 'roots/list', 'sampling/createMessage',
  'resources/subscribe', 'subscriptions/listen', '../tools/list', 'x'.repeat(500_000),
];
const NAMES: readonly unknown[] = [
  '__proto__', 'constructor', 'hasOwnProperty', 'books_list ', 'BOOKS_LIST', '', null, 1, {}, [],
  '../etc/passwd', 'makeSampleRequest', 'followLog', 'x'.repeat(10_000),
];
const LIST_ARGUMENTS: readonly unknown[] = [
  1, 'x', [], [{}], true, { limit: {} }, { limit: -1 }, { limit: 1e9 }, { limit: 'x' },
  { limit: [] }, { cursor: {} }, { cursor: 'x' }, { sort: { a: 1 } }, { q: [1, 2] }, { q: {} },
  { explain: 'maybe' }, { toString: 1 }, { constructor: {} }, { isbn: [{}] },
];
const IDS = [
  '..', '.', '', '../../control/tokens', '%2e%2e', 'a/b', '?x=1', '#', '\0', ' ', '\r\nX: 1',
  'x'.repeat(20_000), null, {}, [], '\ud800', 'a\udfff',
];
/** Each is a mistake for an object: to leave it out would act on all records. */
const ROUTE_ARGUMENTS = ['{"hook":"x"}', [{ hook: 'x' }], 1, null, false];
const PROMPT_ARGUMENTS = [{}, { sender: {} }, { sender: 1 }, { sender: ['x'] }, { sender: null }];
const URIS = [
  'hookshelf://manual/../../package.json', 'hookshelf://manual/', 'file:///etc/passwd', '', null,
  {}, 'hookshelf://manual/__proto__', 'HOOKSHELF://manual/deliveries',
];
const WRONG_HEADERS = [
  ['mcp-method', 'x'], ['mcp-method', ''], ['mcp-name', 'x'], ['mcp-name', '=?base64?AA==?='],
  ['mcp-name', '=?base64?!!!?='], ['mcp-name', '=?base64?'], ['mcp-protocol-version', '2025-11-25'],
] as const;
const VERSIONS = ['2024-11-05', '', 'latest', '2026-07-29', 'x'.repeat(5000), '2025-11-25, x'];

function* hostileMessages(): Generator<Hostile> {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } };
  const good = JSON.stringify(list);
  // Cut off anywhere, it is no JSON.
  for (let length = 1; length < good.length - 1; length += 2) {
    yield { raw: good.slice(0, length), headers: NEW };
  }
  for (const raw of TEXTS) yield { raw, headers: OLD };
  for (const id of [null, true, 1.5, [], {}, [1], { id: 1 }, 1e-7]) yield old({ ...list, id });
  for (const method of METHODS) yield old({ method });
  for (const params of [1, 'x', [], [1], null, true]) yield old({ ...list, params });
  for (const version of VERSIONS) {
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': version };
    yield { ...old({ ...list, params: { _meta: meta } }),
      headers: { 'mcp-protocol-version': version } };
  }
  for (const name of NAMES) yield toolCall(name, {});
  for (const args of LIST_ARGUMENTS) yield toolCall('books_list', args);
  for (const id of IDS) yield toolCall('books_get', { id });
  for (const args of ROUTE_ARGUMENTS) {
    yield toolCall('api_call', { route: 'retryFailedDeliveries', arguments: args });
  }
  for (const args of PROMPT_ARGUMENTS) {
    yield old({ method: 'prompts/get', params: { name: 'connect-a-sender', arguments: args } });
  }
  const webhook = { webhook: { name: 'x' } };
  yield old({ method: 'prompts/get',
    params: { name: 'find-out-why-it-failed', arguments: webhook } });
  for (const uri of URIS) yield old({ method: 'resources/read', params: { uri } });
  const status = { _meta: META, name: 'status_get', arguments: {} };
  for (const [header, value] of WRONG_HEADERS) {
    yield {
      ...old({ method: 'tools/call', params: status }), headers: {
        ...NEW, 'mcp-method': 'tools/call', 'mcp-name': 'status_get', [header]: value,
      },
    };
  }
}

test('200 hostile messages over HTTP get errors, and the next one is served', () =>
  withAppServer(async ({ url, log }) => {
    const speaker = createSpeaker(url);
    let count = 0;
    for (const { raw, headers } of hostileMessages()) {
      const reply = await speaker.post(raw, headers);
      const what = `${raw.slice(0, 200)} ${JSON.stringify(headers)}: ${reply.text.slice(0, 300)}`;
      assert.ok(reply.status < 500, what);
      const answer = JSON.parse(reply.text);
      const isRefused = answer.error !== undefined || answer.result?.isError === true
        || reply.headers['content-type'] === 'application/problem+json';
      assert.ok(isRefused, what);
      if (answer.error !== undefined) assert.ok(Number.isInteger(answer.error.code), what);
      assert.doesNotMatch(reply.text, /internal error|connection .* broke/, what);
      count += 1;
    }
    assert.ok(count >= 200, `${count}`);
    assert.equal((await speaker.rpc('tools/list')).status, 200);
    assert.doesNotMatch(log(), /unexpectedly/);
  }, OPEN));

test('they get errors on stdin, too, each on a line', () => withAppServer(async ({ data }) => {
  // There are no headers on stdin that could be wrong.
  const lines = [...hostileMessages()].filter(({ headers }) => headers['mcp-name'] === undefined)
    .map(({ raw }) => raw)
    .filter((raw) => raw.trim() !== '' && !raw.includes('\n') && raw.length < 1 << 20);
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'server/discover',
    params: { _meta: META } });
  const { code, stdout } = await runCommand(
    ['mcp', '--data', data], { input: `${[...lines, ping].join('\n')}\n` });
  assert.equal(code, 0);
  const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(answers.length, lines.length + 1);
  assert.deepEqual(answers.filter(({ result }) => result !== undefined && result.isError !== true)
    .map(({ id }) => id), ['last']);
}));

test('who sends 1,500 messages at once on stdin gets all their answers', () =>
  withAppServer(async ({ data }) => {
    const lines = Array.from({ length: 1500 }, (_, id) => JSON.stringify({
      jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: META },
    }));
    const { stdout } = await runCommand(
      ['mcp', '--data', data], { input: `${lines.join('\n')}\n` });
    const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(answers.filter(({ error }) => error !== undefined), []);
    assert.equal(new Set(answers.map(({ id }) => id)).size, lines.length);
  }));
