import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../src/base/turns.ts';
import { Facts } from '../../../src/webhooks/members/filters/facts.ts';
import { createRequestWalk } from '../../../src/webhooks/inbox/request-search.ts';
import { NO_MATCHES } from '../../../src/webhooks/records/record-list.ts';
import { parseSearchQuery } from '../../../src/webhooks/records/search-query.ts';
import { createSearches } from '../../../src/webhooks/records/searches.ts';
import { makeStoredRequest } from '../inbox/sample-request.ts';
import { startRelay, type Relay } from '../relay.ts';

const LOG = { identifier: 'log', actionType: 'log', options: {} };

async function withInbox(run: (relay: Relay) => Promise<void>): Promise<void> {
  const relay = await startRelay();
  try {
    await relay.hook(LOG, { inbox: 'all', bodyFormat: 'auto' });
    await run(relay);
  } finally {
    await relay.close();
  }
}

/** The numbers of the requests that a search finds: each was sent with its own. */
async function search(relay: Relay, path: string): Promise<number[]> {
  const found: number[] = [];
  for (let next: string | null = path; next !== null;) {
    const answer = await relay.ask('GET', next);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['x-total-count'], undefined);
    for (const { headers } of answer.json as unknown as { headers: [string, string][] }[]) {
      const number = headers.find(([name]) => name.toLowerCase() === 'x-number')?.[1];
      found.push(Number(number));
    }
    const link = /<([^>]*)>/.exec(String(answer.headers['link'] ?? ''))?.[1];
    assert.equal(answer.headers['x-search-complete'], String(link === undefined));
    next = link ?? null;
  }
  return found.reverse();
}

type Sent = readonly [
  body: string, type?: string, headers?: Readonly<Record<string, string>>, query?: string,
];

const BODIES: readonly Sent[] = [
  ['{"customer":{"id":424242,"name":"Ada Lovelace"}}'],
  ['{"customer":{"id":"424242","name":"Jos\\u00e9 Müller"}}'],
  ['{"text":"caf\\u0065teria","ok":true,"none":null}'],
  ['plain text of a meter', 'text/plain'],
  ['user=Grace%20Hopper&id=7', 'application/x-www-form-urlencoded'],
  ['{"big":12345678901234567890,"price":777777.50,"tags":["red","blue"]}'],
  ['{}', 'application/json', { 'X-Request-Source': 'billing-service' }],
  ['{}', 'application/json',
    { 'Authorization': 'Bearer hiddentoken', 'X-Signature': 'sha256=abcdef' }],
  ['{}', 'application/json', {}, '?token=hiddenparameter&signature=fedcba&page=3'],
  ['{"phone":"+1 555.50","codes":[555,true],"words":["555"],"note":"untrue"}'],
];

const CASES: readonly (readonly [query: string, found: readonly number[]])[] = [
  ['q=lovelace', [0]],
  ['q=LOVE%20ada', [0]],
  ['q=lace', []],
  ['q=customer', []],
  ['q=424242', [0, 1]],
  ['q=jose', [1]],
  ['q=MULLER', [1]],
  ['q=m%C3%BCller', [1]],
  ['q=cafeteria', [2]],
  ['q=true', []],
  ['q=meter', [3]],
  ['q=hopper', []],
  ['q=grace', [4]],
  ['q=12345678901234567890', [5]],
  ['q=777777.50', [5]],
  ['q=billing-service', [6]],
  ['q=hiddentoken', []],
  ['q=abcdef', []],
  ['q=***', []],
  ['q=webhook%20hook%20red', [5]],
  ['where=payload.customer.id=424242', [0]],
  ['where=payload.customer.id%3D%22424242%22', [1]],
  ['where=payload.customer.name=Ada%20Lovelace', [0]],
  ['where=payload.customer.name~M%C3%BCller', [1]],
  ['where=payload.ok=true', [2]],
  ['where=payload.none=null', [2]],
  ['where=payload.ok!=null', [2]],
  ['where=payload.text=cafeteria', [2]],
  ['where=payload.text~meter', [3]],
  ['where=payload.user=Grace%20Hopper', [4]],
  ['where=payload.tags~red', [5]],
  ['where=payload.tags.1=blue', [5]],
  ['where=payload.codes~555', [9]],
  ['where=payload.codes~true', [9]],
  ['where=payload.phone~555', [9]],
  ['where=payload.phone~555.50', [9]],
  ['where=payload.phone~556', []],
  ['where=payload.note~true', [9]],
  ['where=payload.words~555', [9]],
  ['where=payload.codes~%22555%22', []],
  ['where=payload.price>=777777.5', [5]],
  ['where=payload.price<777777.5', []],
  ['where=payload.price<=777777.5', [5]],
  ['where=payload.price!=7', [5]],
  ['where=payload.price!=777777.5', []],
  ['where=payload.ok=false', []],
  ['where=payload.price>777777&where=payload.tags~red', [5]],
  ['where=payload.price>777777&where=payload.tags~green', []],
  ['where=payload.tags~red&where=payload.price<777777', []],
  ['where=headers.X-Request-Source~billing', [6]],
  ['where=headers.x-number=6', [6]],
  ['where=headers.x-signature~sha256', []],
  ['where=%7B%22path%22:%22headers.authorization%22,%22op%22:%22exists%22%7D', []],
  ['where=query.page=3', [8]],
  ['where=%7B%22path%22:%22query.token%22,%22op%22:%22exists%22%7D', []],
  ['where=query.signature=fedcba', []],
  ['where=query.token=***', []],
  ['where=method=POST&q=red', [5]],
  [`where=${encodeURIComponent('{"any":[{"path":"payload.id","op":"eq","value":"7"},'
    + '{"path":"payload.customer.id","op":"eq","value":424242}]}')}`, [0, 4]],
  [`q=ada&where=${encodeURIComponent('{"not":{"path":"payload.x","op":"exists"}}')}`, [0]],
  ['q=red&limit=1', [5]],
  ['q=424242&limit=1', [0, 1]],
  ['q=424242&status=failed', []],
  ['q=424242&status=done&hook=hook', [0, 1]],
];

test('a search finds words and conditions, however they are encoded', async () => {
  await withInbox(async (relay) => {
    for (const [number, sent] of BODIES.entries()) {
      const [body, type = 'application/json', headers = {}, query = ''] = sent;
      const answer = await relay.ask('POST', `/webhook/in/hook${query}`, Buffer.from(body), {
        'Content-Type': type, 'X-Number': String(number), ...headers,
      });
      assert.equal(answer.status, 200, answer.text);
    }
    for (const [query, found] of CASES) {
      assert.deepEqual(await search(relay, `/api/requests?${query}`), found, query);
    }
  });
});

test('the time that a search has come back to is that of its last request', async () => {
  await withInbox(async (relay) => {
    for (let count = 0; count < 3; count += 1) await relay.ask('POST', '/webhook/in/hook', {});
    const [newest, second] = JSON.parse((await relay.ask('GET', '/api/requests')).text);
    const one = await relay.ask('GET', '/api/requests?q=hook&limit=1');
    assert.equal(one.headers['x-search-until'], newest.receivedAt);
    const two = await relay.ask('GET', '/api/requests?q=hook&limit=2');
    assert.equal(two.headers['x-search-until'], second.receivedAt);
    const all = await relay.ask('GET', '/api/requests?q=hook&limit=3');
    assert.deepEqual([all.headers['x-search-complete'], all.headers['x-search-until']],
      ['true', undefined]);
  });
});

const SCHEME = {
  algorithm: 'token', key: 'utf8', content: '',
  signature: { from: { header: 'X-Key' }, encoding: 'utf8' },
  event: { query: 'kind' }, id: { query: 'delivery' },
};

test('a search finds rejected requests, each at its time among the others', async () => {
  await withInbox(async (relay) => {
    const key = 'a-secret-of-ours-0123456789';
    const made = await relay.ask('POST', '/api/incoming-webhooks', {
      pathSegment: 'shop', actionConfiguration: 'log', inbox: 'all', secret: key,
      verification: { preset: 'custom', scheme: SCHEME },
    });
    assert.equal(made.status, 201, made.text);
    const statuses: number[] = [];
    for (const [number, token] of [key, 'wrong', key, 'wrong'].entries()) {
      const path = `/webhook/in/shop?kind=kind${number}&delivery=d${number}`;
      const { status } = await relay.ask('POST', path, { text: 'fish' },
        { 'X-Key': token, 'X-Number': String(number) });
      statuses.push(status);
    }
    assert.deepEqual(statuses, [200, 401, 200, 401]);
    const cases: readonly (readonly [query: string, found: readonly number[]])[] = [
      ['q=fish', [0, 1, 2, 3]], ['q=fish&limit=1', [0, 1, 2, 3]],
      ['q=fish&status=rejected', [1, 3]], ['q=fish&status=done', [0, 2]],
      ['where=payload.text=fish&status=rejected', [1, 3]], ['q=wrong', []],
      // What the sender calls the event, and its id, stand in the query alone.
      ['q=kind2', [2]], ['q=d0', [0]], ['where=event=kind0', [0]],
    ];
    for (const [query, found] of cases) {
      assert.deepEqual(await search(relay, `/api/requests?${query}`), found, query);
    }
    for (const number of statuses.keys()) {
      const [{ id }] = JSON.parse(
        (await relay.ask('GET', `/api/requests?where=headers.x-number=${number}`)).text);
      assert.deepEqual(await search(relay, `/api/requests?q=${id}`), [number]);
    }
  });
});

test('what is deleted, or matches no more, while it is searched is not found', () =>
  withInbox(async (relay) => {
    const texts = Array.from({ length: 1000 }, (_, index) => `text ${index}`);
    for (let number = 0; number < 3; number += 1) {
      await relay.ask('POST', '/webhook/in/hook', { texts: [...texts, 'needle'] });
    }
    const { json } = await relay.ask('GET', '/api/requests');
    const ids = (json as unknown as { id: string }[]).map(({ id }) => id).sort();
    const requests = relay.store.collection('requests');
    let filteredId: string | undefined;
    const createFacts = () => new Facts({ payload: () => null, event: () => null });
    const walk = createRequestWalk(relay.store, createFacts, { find: () => undefined }, {
      stored: {
        matches: (slot) => requests.idAt(slot) !== filteredId,
        walk: requests.walk({ isDescending: true }),
      },
      rejected: [],
    });
    const clock = { monotonicMs: () => 0 };
    let [nowMs, step] = [0, 0];
    // Each takes five steps, the newest is the first.
    const turns = createTurns({ monotonicMs: () => (nowMs += 1000) }, (next) => {
      step += 1;
      if (step === 2) return void relay.ask('DELETE', `/api/requests/${ids[2]}`).then(next);
      if (step === 8) filteredId = ids[1];
      setImmediate(next);
    });
    const query = parseSearchQuery({ text: 'needle', conditions: [] }, ['payload']);
    const page = await createSearches({ clock, turns }).findPage(walk, query, 10, () => true);
    assert.deepEqual(page?.items.map(({ id }) => id), [ids[0]]);
  }));

test('a rejected request that made room for another while it was searched is not found', () =>
  withInbox(async (relay) => {
    const requests = ['b', 'a'].map((id) =>
      makeStoredRequest({ given: { id, status: 'rejected' } }));
    const keptIds = new Set(['a', 'b']);
    const createFacts = () => new Facts({ payload: () => ({}), event: () => null });
    const walk = createRequestWalk(relay.store, createFacts, {
      find(id) {
        const request = requests.find((other) => other.id === id);
        return request === undefined || !keptIds.has(id) ? undefined
          : { request, body: Buffer.from('{}'), isWhole: true };
      },
    }, { stored: NO_MATCHES, rejected: requests });
    assert.notEqual(walk.next(), null);
    assert.equal(walk.isStillListed(), true);
    keptIds.delete('a');
    assert.notEqual(walk.next(), null);
    assert.equal(walk.isStillListed(), false);
  }));
