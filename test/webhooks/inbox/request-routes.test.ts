import assert from 'node:assert/strict';
import { before, after, beforeEach, test } from 'node:test';
import { requestCollection } from '../../../src/webhooks/inbox/request-codec.ts';
import type { StoredRequest } from '../../../src/webhooks/incoming/stored-request.ts';
import { removeItems } from '../../../src/webhooks/work/change-items.ts';
import { addRequest, requestSpec } from '../../../src/webhooks/inbox/request-changes.ts';
import { startRelay, type Answer, type Headers, type Relay } from '../relay.ts';
import { makeRoute, makeStoredRequest } from './sample-request.ts';

let relay: Relay;
let hook = '';
before(async () => {
  relay = await startRelay();
  hook = String((await relay.hook({ actionType: 'log' })).json['identifier']);
});
after(() => relay.close());
beforeEach(async () => {
  const ids = idsOf(await list(''));
  await relay.store.transact((transaction) =>
    removeItems(requestSpec, transaction, ids, 'deleted'));
});

const ids = Array.from({ length: 20 }, (_, index) =>
  `01890000-0000-7000-8000-${String(index).padStart(12, '0')}`);
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** Stores one request; its id and time are those of its number. */
async function keep(
  number: number, given: Partial<StoredRequest> = {}, body: Buffer = Buffer.from('{}'),
): Promise<string> {
  const id = ids[number] ?? '';
  const request = makeStoredRequest({
    body, given: {
      id, hook, receivedAt: at(number), updatedAt: at(number), status: 'done', ...given,
    },
  });
  await relay.store.transact((transaction) => addRequest(transaction, request, body));
  return id;
}

function list(query: string): Promise<Answer> {
  return relay.ask('GET', `/api/requests${query}`);
}

function idsOf({ text }: Answer): string[] {
  return (JSON.parse(text) as { id: string }[]).map(({ id }) => id);
}

function one(id: string, headers: Headers = {}): Promise<Answer> {
  return relay.ask('GET', `/api/requests/${id}`, undefined, headers);
}

test('lists requests, the newest first, page by page', async () => {
  for (let number = 0; number < 5; number += 1) await keep(number);
  const all = [4, 3, 2, 1, 0].map((number) => ids[number]);
  assert.deepEqual(idsOf(await list('')), all);
  const found: string[] = [];
  for (let path = '?limit=2'; path !== '';) {
    const answer = await list(path);
    assert.equal(answer.headers['x-total-count'], '5');
    found.push(...idsOf(answer));
    const [, next = ''] = /^<\/api\/requests(\?[^>]+)>; rel="next"$/
      .exec(String(answer.headers['link'] ?? '')) ?? [];
    path = next;
    assert.ok(found.length <= 5);
  }
  assert.deepEqual(found, all);
});

test('lists by webhook, status, event and time', async () => {
  await keep(0, { event: 'push', status: 'failed' });
  await keep(1, { event: 'push' });
  await keep(2, { event: 'it "is" \\' });
  await keep(3, { hook: '01890000-0000-7000-8000-00000000000b', event: null });
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ['?hook=hook', [2, 1, 0]], [`?hook=${hook}`, [2, 1, 0]], ['?hook=none', []],
    ['?hook=01890000-0000-7000-8000-00000000000b', [3]],
    ['?status=failed', [0]], ['?status=pending', []], ['?status=rejected', []],
    ['?event=push', [1, 0]], [`?event=${encodeURIComponent('it "is" \\')}`, [2]],
    ['?event=none', []], [`?since=${at(1)}`, [3, 2, 1]], [`?until=${at(1)}`, [0]],
    [`?since=${at(1)}&until=${at(3)}&hook=hook`, [2, 1]],
    ['?since=2026-01-01T01:00:02+01:00', [3, 2]], ['?event=push&status=done&limit=1', [1]],
  ];
  for (const [query, numbers] of cases) {
    const answer = await list(query);
    assert.equal(answer.status, 200, query + answer.text);
    assert.deepEqual(idsOf(answer), numbers.map((number) => ids[number]), query);
    assert.equal(answer.headers['x-total-count'], String(numbers.length), query);
  }
});

test('a next page keeps the filters of the first', async () => {
  for (let number = 0; number < 4; number += 1) await keep(number, { event: `e ${number % 2}` });
  const first = await list(`?event=e+1&since=${at(0)}&hook=hook&limit=1`);
  const [, next = ''] = /requests(\?[^>]+)>/.exec(String(first.headers['link'])) ?? [];
  const second = await list(next);
  assert.deepEqual([...idsOf(first), ...idsOf(second)], [ids[3], ids[1]]);
  assert.equal(second.headers['link'], undefined);
});

test('a list follows what is stored and deleted after it was first asked for', async () => {
  await keep(0, { event: 'a' });
  assert.deepEqual(idsOf(await list('?event=a')), [ids[0]]);
  await keep(1, { event: 'a', status: 'failed' });
  assert.deepEqual(idsOf(await list('?event=a')), [ids[1], ids[0]]);
  assert.deepEqual(idsOf(await list('?event=a&status=failed')), [ids[1]]);
  await relay.ask('DELETE', `/api/requests/${ids[1]}`);
  assert.deepEqual(idsOf(await list('?event=a')), [ids[0]]);
});

for (const query of ['?status=x', '?since=yesterday', '?since=2026-02-30T00:00:00Z',
  '?since=2026-01-01T24:00:00Z', '?since=2026-01-01T00:00:00%2B0000',
  '?until=1', '?limit=0', '?limit=1001', '?cursor=%21', '?nope=1', '?status=done&status=done']) {
  test(`refuses ${query}`, async () => {
    assert.equal((await list(query)).status, 400);
  });
}

test('shows one request with its tag, and 304 for that tag', async () => {
  const id = await keep(0, { headers: [['X-A', '1'], ['x-sig', 'abc']], signatures: ['x-sig'] });
  const shown = await one(id);
  assert.equal(shown.status, 200);
  assert.deepEqual(Object.keys(shown.json), ['id', 'hook', 'hookName', 'receivedAt', 'method',
    'path', 'query', 'headers', 'bodyBytes', 'bodyStart', 'bodySha256', 'client', 'event',
    'eventId', 'eventIdReused', 'verdict', 'status', 'routes', 'answered', 'duplicateOf',
    'replayOf', 'pinned']);
  assert.deepEqual(shown.json['headers'], [['X-A', '1'], ['x-sig', '***']]);
  const etag = String(shown.headers['etag']);
  assert.equal((await one(id, { 'If-None-Match': etag })).status, 304);
  assert.equal((await one(id, { 'If-None-Match': '"x"' })).status, 200);
  assert.equal((await one('none')).status, 404);
});

const FACE = '\u{1f600}';
const STARTS: readonly (readonly [string, Buffer, string | null])[] = [
  ['a short text', Buffer.from('{"a":"ü"}'), '{"a":"ü"}'],
  ['control characters', Buffer.from('{"a":"\\\n\t\u0000\u202e"}'), '{"a":"\\\n\t\u0000\u202e"}'],
  ['no body', Buffer.alloc(0), ''],
  ['bytes that are no text', Buffer.from([0, 255, 254]), null],
  ['100 wide characters', Buffer.from(FACE.repeat(100)), FACE.repeat(80)],
  ['100 escaped characters', Buffer.from('\n'.repeat(100)), '\n'.repeat(80)],
  ['nothing but control characters', Buffer.alloc(100, 1), null],
  ['a secret', Buffer.from('{"password":"open","a":1}'), '{"password":"***","a":1}'],
  ['a secret that is cut off', Buffer.from(`{"token":"${'x'.repeat(90)}"}`), '{"token":"***'],
  ['a text with a record of its own', Buffer.from('é"'.repeat(10_000)), 'é"'.repeat(40)],
  ['bytes with a record of their own', Buffer.alloc(40_000, 255), null],
];
for (const [name, body, bodyStart] of STARTS) {
  test(`shows where a body begins: ${name}`, async () => {
    const id = await keep(0, {}, body);
    assert.equal((await one(id)).json['bodyStart'], bodyStart);
    const [listed] = JSON.parse((await list('')).text) as { bodyStart: string | null }[];
    assert.equal(listed?.bodyStart, bodyStart);
  });
}

const BODIES = [
  ['text', Buffer.from('{"a":"ü"}')], ['bytes', Buffer.from([0, 255, 254])],
  ['a large one', Buffer.alloc(40_000, 'x')], ['none', Buffer.alloc(0)],
] as const;
for (const [name, body] of BODIES) {
  test(`gives the body as an attachment that no browser runs: ${name}`, async () => {
    const id = await keep(0, { headers: [['content-type', 'text/html; charset=utf-8']] }, body);
    const answer = await relay.ask('GET', `/api/requests/${id}/body`);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, body.toString('utf8'));
    assert.equal(answer.headers['content-length'], String(body.length));
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(answer.headers['content-disposition'], `attachment; filename="${id}"`);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.match(String(answer.headers['content-security-policy']), /sandbox/);
  });
}

for (const type of ['no type', 'text/html\u0001', '']) {
  test(`gives a body of the odd type ${JSON.stringify(type)} as mere bytes`, async () => {
    const id = await keep(0, { headers: [['Content-Type', type]] });
    const answer = await relay.ask('GET', `/api/requests/${id}/body`);
    assert.equal(answer.headers['content-type'], 'application/octet-stream');
  });
}

test('the body of an unknown request is not found', async () => {
  assert.equal((await relay.ask('GET', '/api/requests/none/body')).status, 404);
});

function pin(id: string, patch: unknown, headers: Headers = {}): Promise<Answer> {
  return relay.ask('PATCH', `/api/requests/${id}`, patch, headers);
}

test('a request is pinned and unpinned by a merge patch', async () => {
  const id = await keep(0);
  const pinned = await pin(id, { pinned: true });
  assert.deepEqual([pinned.status, pinned.json['pinned']], [200, true]);
  assert.deepEqual((await one(id)).json, pinned.json);
  assert.equal((await one(id)).headers['etag'], pinned.headers['etag']);
  assert.equal((await pin(id, {})).json['pinned'], true);
  assert.equal((await pin(id, { pinned: null })).json['pinned'], false);
  assert.equal((await pin(id, { pinned: true }, {
    'Content-Type': 'application/merge-patch+json',
  })).json['pinned'], true);
});

test('a patch is refused that says more, something else, or is for another version', async () => {
  const id = await keep(0);
  const etag = String((await one(id)).headers['etag']);
  for (const patch of [{ pinned: 1 }, { status: 'done' }, [], { pinned: true, event: 'x' }]) {
    assert.equal((await pin(id, patch)).status, 422, JSON.stringify(patch));
  }
  assert.equal((await pin(id, '{')).status, 400);
  assert.equal((await pin(id, { pinned: true }, { 'Content-Type': 'text/plain' })).status, 415);
  assert.equal((await pin('none', { pinned: true })).status, 404);
  assert.equal((await pin(id, { pinned: true }, { 'If-Match': '"other"' })).status, 412);
  assert.equal((await pin(id, { pinned: true }, { 'If-Match': etag })).status, 200);
  assert.equal((await pin(id, { pinned: false }, { 'If-Match': etag })).status, 412);
});

test('a finished request is deleted with its body, a pending one is not', async () => {
  const id = await keep(0, {}, Buffer.alloc(40_000, 'x'));
  const pending = await keep(1, { status: 'pending' });
  const remove = (which: string, headers: Headers = {}): Promise<Answer> =>
    relay.ask('DELETE', `/api/requests/${which}`, undefined, headers);
  assert.equal((await remove(id, { 'If-Match': '"other"' })).status, 412);
  assert.equal((await remove(id)).status, 204);
  assert.equal((await remove(id)).status, 404);
  assert.equal(relay.store.collection('request-bodies').find(id), undefined);
  const refused = await remove(pending);
  assert.deepEqual([refused.status, /is pending/.test(refused.text)], [409, true]);
  assert.equal((await one(pending)).status, 200);
});

test('requests are counted, and a planted fault is found', async () => {
  await keep(0, { status: 'failed' });
  await keep(1, {}, Buffer.alloc(40_000, 'x'));
  const path = '/api/requests/reconcile';
  const sound = await relay.ask('GET', path);
  assert.deepEqual([sound.json['isReconciled'], sound.json['problems']], [true, []]);
  const { accepted, agedOut, deleted, done, failed } = sound.json as Record<string, number>;
  assert.deepEqual([done, failed], [1, 1]);
  assert.equal(accepted, 2 + Number(agedOut) + Number(deleted));
  const bytes = relay.store.collection(requestCollection.name).findBytes(ids[0] ?? '');
  const body = relay.store.collection('request-bodies').findBytes(ids[1] ?? '');
  await relay.store.transact((transaction) => {
    transaction.delete(requestCollection.name, ids[0] ?? '');
    transaction.delete('request-bodies', ids[1] ?? '');
    transaction.put('request-bodies', ids[9] ?? '', `{"id":"${ids[9]}","bodyText":""}`);
  });
  const { json } = await relay.ask('GET', path);
  assert.deepEqual([json['isReconciled'], [...json['problems'] as string[]].sort()], [false, [
    `body ${ids[9]} belongs to no request`,
    `delivery ${ids[0]}.0 belongs to no request`, `request ${ids[1]} has lost its body`,
  ]]);
  await relay.store.transact((transaction) => {
    transaction.put(requestCollection.name, ids[0] ?? '', String(bytes));
    transaction.put('request-bodies', ids[1] ?? '', String(body));
    transaction.delete('request-bodies', ids[9] ?? '');
  });
});

function replay(id: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
  return relay.ask('POST', `/api/requests/${id}/replay`, body, headers);
}

type ShownRoute = { readonly name: string; readonly status: string };

function routesOf({ json }: Answer): string[] {
  return (json['routes'] as ShownRoute[]).map(({ name, status }) => `${name} ${status}`);
}

const DONE = makeRoute({ status: 'delivered', nextAttemptAt: null, attemptCount: 1 });

for (const status of ['done', 'failed', 'duplicate', 'filtered', 'pending'] as const) {
  test(`a ${status} request is run again as the same one`, async () => {
    const deliveries = status === 'done' ? [DONE]
      : status === 'failed' ? [{ ...DONE, status, failures: 3 }] : [];
    const pending = status === 'pending' ? { deliveries: [{ ...DONE, status }] } : { deliveries };
    const id = await keep(0, { status, ...pending });
    const answer = await replay(id);
    assert.equal(answer.status, 202, answer.text);
    assert.deepEqual([answer.json['id'], answer.json['status']], [id, 'pending']);
    assert.deepEqual(routesOf(answer), ['default pending']);
    assert.deepEqual((await one(id)).json, answer.json);
    assert.equal((await one(id)).headers['etag'], answer.headers['etag']);
    assert.equal((await relay.ask('GET', '/api/requests/reconcile')).json['isReconciled'], true);
  });
}

test('a request is run again as a new one, with its body', async () => {
  const body = Buffer.alloc(40_000, 'x');
  const id = await keep(0, { pinned: true, event: 'push', status: 'done' }, body);
  const answer = await replay(id, { as: 'new' });
  assert.equal(answer.status, 202, answer.text);
  const made = String(answer.json['id']);
  assert.notEqual(made, id);
  const { replayOf, status, pinned, event, bodyBytes } = answer.json;
  assert.deepEqual([replayOf, status, pinned, event, bodyBytes],
    [id, 'pending', false, 'push', body.length]);
  assert.equal((await relay.ask('GET', `/api/requests/${made}/body`)).text, body.toString());
  assert.equal((await one(id)).json['status'], 'done');
});

test('a replay takes the routes that it is given, and refuses those there are not', async () => {
  const id = await keep(0);
  assert.equal((await replay(id, { routes: ['default'] })).status, 202);
  const wrong = await replay(id, { routes: ['default', 'other'] });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /"\/routes\/1".*is no route of the webhook, which has default/);
  for (const body of [{ routes: [] }, { routes: 'default' }, { as: 'both' }, { nope: 1 }]) {
    assert.equal((await replay(id, body)).status, 422, JSON.stringify(body));
  }
  assert.equal((await replay('none')).status, 404);
});

test('what a removed webhook received cannot be run again', async () => {
  const id = await keep(0, { hook: '01890000-0000-7000-8000-00000000000b' });
  const answer = await replay(id);
  assert.deepEqual([answer.status, /is gone/.test(answer.text)], [409, true]);
});
