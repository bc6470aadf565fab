import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, startRelay, type Relay } from '../relay.ts';

let relay: Relay;
before(async () => {
  relay = await startRelay();
  for (const identifier of ['log', 'other']) {
    await relay.ask('POST', '/api/action-configurations', { identifier, actionType: 'log' });
  }
});
after(() => relay.close());

const IN = '/api/incoming-webhooks';
const CONFIG = '/api/action-configurations';
const LEAF = { path: 'event', op: 'eq', value: 'push' };

let made = 0;
async function create(members: object): ReturnType<Relay['ask']> {
  made += 1;
  return relay.ask('POST', IN, { pathSegment: `p${made}`, ...members });
}

const route = (more: object = {}): object =>
  ({ name: 'a', actionConfiguration: 'log', ...more });
const STORED_FIRST = { inbox: 'all', answer: 'accepted' };
const when = (condition: unknown): object => ({ routes: [route({ when: condition })] });
const nested = (levels: number): object =>
  levels === 1 ? LEAF : { not: nested(levels - 1) };

const REFUSED: readonly (readonly [string, object, string, RegExp])[] = [
  ['neither action nor routes', {}, '/actionConfiguration', /^is required, unless/],
  ['the ellipsis of an example for a secret', { actionConfiguration: 'log', secret: '…' },
    '/secret', /must be the secret itself/],
  ['the ellipsis of an example for a token', {
    actionConfiguration: 'log', secret: 's', verification: { preset: 'meta', verifyToken: '…' },
  }, '/verification/verifyToken', /must be the secret itself/],
  ['both', { actionConfiguration: 'log', routes: [route()] }, '/routes', /one of the two to null/],
  ['no route', { routes: [] }, '/routes', /must hold a route/],
  ['21 routes', { routes: Array.from({ length: 21 }, (_, at) => route({ name: `r${at}` })) },
    '/routes', /at most 20/],
  ['a name twice', { routes: [route(), route()] }, '/routes/1/name', /twice/],
  ['a name with a space', { routes: [route({ name: 'a b' })] }, '/routes/0/name', /1-64 of/],
  ['a route without action', { routes: [{ name: 'a' }] },
    '/routes/0/actionConfiguration', /required/],
  ['an unknown action', { routes: [route(), route({ name: 'b', actionConfiguration: 'lgo' })] },
    '/routes/1/actionConfiguration', /no action configuration "lgo".*did you mean `log`/],
  ['accepted without inbox all', { actionConfiguration: 'log', answer: 'accepted' },
    '/answer', /needs the inbox all.*not failed/],
  ['accepted with inbox off', { actionConfiguration: 'log', answer: 'accepted', inbox: 'off' },
    '/answer', /not off/],
  ['an order, and the result as the answer', { actionConfiguration: 'log', order: 'strict' },
    '/order', /needs answer accepted.*inbox all/],
  ['an order of a route, and the result as the answer',
    { inbox: 'all', routes: [route(), route({ name: 'b', order: { key: 'payload.id' } })] },
    '/routes/1/order', /needs answer accepted/],
  ['an order beside routes', { ...STORED_FIRST, routes: [route()], order: 'none' },
    '/order', /stands on each route/],
  ['an unknown order', { ...STORED_FIRST, actionConfiguration: 'log', order: 'fifo' },
    '/order', /must be "none", "strict" or/],
  ['an unknown order of a route',
    { ...STORED_FIRST, routes: [route({ order: { path: 'event' } })] },
    '/routes/0/order', /must be "none", "strict" or/],
  ['a key of no source', { ...STORED_FIRST, routes: [route({ order: { key: 'key' } })] },
    '/routes/0/order/key', /must begin with payload, headers/],
  ['an unknown inbox', { actionConfiguration: 'log', inbox: 'some' }, '/inbox', /off, failed, all/],
  ['no hours', { actionConfiguration: 'log', deduplicateHours: 0 },
    '/deduplicateHours', /1 to 720/],
  ['too many hours', { actionConfiguration: 'log', deduplicateHours: 721 },
    '/deduplicateHours', /1 to 720/],
  ['a wait before now', { actionConfiguration: 'log', retrySchedule: [-1] },
    '/retrySchedule/0', /0 to/],
  ['fewer requests than none', { actionConfiguration: 'log', rateLimit: -1 },
    '/rateLimit', /0 to/],
  ['no request at once', { actionConfiguration: 'log', maxConcurrent: 0 },
    '/maxConcurrent', /1 to/],
  ['no time', { actionConfiguration: 'log', actionTimeout: 0 }, '/actionTimeout', /0\.001 to/],
  ['half a run', { actionConfiguration: 'log', maxInFlight: 0.5 }, '/maxInFlight', /integer/],
  ['another word', { actionConfiguration: 'log', deduplicate: 'on' }, '/deduplicate', /auto, off/],
  ['two places', { actionConfiguration: 'log', deduplicate: { header: 'a', json: 'b' } },
    '/deduplicate', /auto, off/],
  ['a place that is no header', { actionConfiguration: 'log', deduplicate: { header: 'a b' } },
    '/deduplicate/header', /header name/],
  ['an empty step', { actionConfiguration: 'log', deduplicate: { json: 'a..b' } },
    '/deduplicate/json', /joined by dots/],
  ['17 steps', { actionConfiguration: 'log', deduplicate: { json: 'a.'.repeat(16) + 'a' } },
    '/deduplicate/json', /at most 16/],
  ['a condition of nothing', when({}), '/routes/0/when', /one of all, any, not, path/],
  ['a condition of two', when({ ...LEAF, not: LEAF }), '/routes/0/when', /not not and path/],
  ['an empty all', when({ all: [] }), '/routes/0/when/all', /must hold a condition/],
  ['an empty any inside', when({ all: [LEAF, { any: [] }] }),
    '/routes/0/when/all/1/any', /must hold a condition/],
  ['no operator', when({ path: 'event' }), '/routes/0/when/op', /required/],
  ['an unknown operator', when({ any: [{ ...LEAF, op: 'matches' }] }),
    '/routes/0/when/any/0/op', /one of eq, ne/],
  ['an operator beside all', when({ all: [LEAF], op: 'eq' }), '/routes/0/when/op', /beside a path/],
  ['an unknown source', when({ not: { ...LEAF, path: 'body.a' } }),
    '/routes/0/when/not/path', /must begin with payload, headers, query, event or method/],
  ['a mistyped source', when({ ...LEAF, path: 'header.a' }),
    '/routes/0/when/path', /did you mean `headers`/],
  ['a member of the event', when({ ...LEAF, path: 'event.name' }),
    '/routes/0/when/path', /event alone/],
  ['an empty step in a path', when({ ...LEAF, path: 'payload..a' }),
    '/routes/0/when/path', /empty step/],
  ['headers without a name', when({ ...LEAF, path: 'headers' }),
    '/routes/0/when/path', /headers\.x-github-event/],
  ['no value', when({ path: 'event', op: 'prefix' }), '/routes/0/when/value', /required.*text/],
  ['a list for eq', when({ ...LEAF, value: ['a'] }), '/routes/0/when/value', /for eq/],
  ['an object in a list', when({ ...LEAF, op: 'in', value: [{}] }),
    '/routes/0/when/value', /an array of texts/],
  ['no list for in', when({ ...LEAF, op: 'in' }), '/routes/0/when/value', /an array/],
  ['true for lt', when({ ...LEAF, op: 'lt', value: true }), '/routes/0/when/value', /number or/],
  ['text for exists', when({ ...LEAF, op: 'exists', value: 'yes' }),
    '/routes/0/when/value', /true or false/],
  ['null for ne', when({ ...LEAF, op: 'ne', value: null }), '/routes/0/when/value', /not and eq/],
  ['nine levels', when(nested(9)), `/routes/0/when${'/not'.repeat(8)}`, /deeper than 8/],
  ['51 conditions', when({ all: [{ any: Array.from({ length: 50 }, () => LEAF) }, LEAF] }),
    '/routes/0/when', /at most 50 conditions/],
  ['code', when({ ...LEAF, code: 'true' }), '/routes/0/when/code', /not a known member/],
];

for (const [name, members, pointer, detail] of REFUSED) {
  test(`refuses ${name}`, async () => {
    assertRefused(await create(members), pointer, detail);
  });
}

const ACCEPTED: readonly (readonly [string, object])[] = [
  ['eight levels', when(nested(8))],
  ['50 conditions', when({ all: Array.from({ length: 50 }, () => LEAF) })],
  ['null as a value', when({ path: 'payload.gone', op: 'eq', value: null })],
  ['a list with null', when({ path: 'payload.gone', op: 'in', value: [null, 1, 'a', true] })],
  ['exists without a value', when({ path: 'query.a.b', op: 'exists' })],
  ['a schedule of its own', { actionConfiguration: 'log', retrySchedule: [1, 2.5] }],
  ['no second run', { actionConfiguration: 'log', retrySchedule: [] }],
  ['limits of its own', {
    actionConfiguration: 'log', rateLimit: 0.5, maxConcurrent: 1, actionTimeout: 0.001,
    maxInFlight: 65_535,
  }],
  ['a header to deduplicate by', { actionConfiguration: 'log', deduplicate: { header: 'X-Id' } }],
  ['a path to deduplicate by', { actionConfiguration: 'log', deduplicate: { json: 'a.0.id' } }],
  ['an order', { ...STORED_FIRST, actionConfiguration: 'log', order: { key: 'headers.x-id' } }],
  ['an order of each route', {
    ...STORED_FIRST,
    routes: [route({ order: 'strict' }), route({ name: 'b', order: { key: 'payload.id' } })],
  }],
  ['no order and the result as the answer', { actionConfiguration: 'log', order: 'none' }],
  ['accepted with inbox all', { actionConfiguration: 'log', inbox: 'all', answer: 'accepted' }],
];

for (const [name, members] of ACCEPTED) {
  test(`keeps ${name} as it was given`, async () => {
    const { status, json, text } = await create(members);
    assert.equal(status, 201, text);
    for (const [member, value] of Object.entries(members)) assert.deepEqual(json[member], value);
  });
}

test('shows what counts where nothing was said', async () => {
  const { json } = await create({ actionConfiguration: 'log' });
  const { inbox, answer, deduplicate, deduplicateHours } = json;
  assert.deepEqual({ inbox, answer, deduplicate, deduplicateHours },
    { inbox: 'failed', answer: 'result', deduplicate: 'auto', deduplicateHours: 72 });
});

test('a configuration that a route names cannot go, until no route names it', async () => {
  await relay.ask('POST', CONFIG, { identifier: 'routed', actionType: 'log' });
  const { json: { identifier } } = await create({
    routes: [route({ actionConfiguration: 'routed' }),
      route({ name: 'b', actionConfiguration: 'routed' })],
  });
  const refused = await relay.ask('DELETE', `${CONFIG}/routed`);
  assert.equal(refused.status, 409);
  assert.match(refused.text, new RegExp(`routed is in use by webhooks: p${made}`));
  const changed = await relay.ask('PATCH', `${IN}/${String(identifier)}`,
    { routes: [route({ actionConfiguration: 'other' })] },
    { 'Content-Type': 'application/merge-patch+json' });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await relay.ask('DELETE', `${CONFIG}/other`)).status, 409);
  assert.equal((await relay.ask('DELETE', `${CONFIG}/routed`)).status, 204);
});

test('routes take the place of the action, and give it back', async () => {
  const { json: { identifier } } = await create({ actionConfiguration: 'log' });
  const patch = (body: object): ReturnType<Relay['ask']> => relay.ask('PATCH',
    `${IN}/${String(identifier)}`, body, { 'Content-Type': 'application/merge-patch+json' });
  assert.equal((await patch({ routes: [route()] })).status, 422);
  const routed = await patch({ routes: [route()], actionConfiguration: null });
  assert.equal(routed.status, 200, routed.text);
  assert.equal(routed.json['actionConfiguration'], undefined);
  const back = await patch({ routes: null, actionConfiguration: 'other' });
  assert.equal(back.status, 200, back.text);
  assert.equal(back.json['routes'], undefined);
});
