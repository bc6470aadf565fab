import assert from 'node:assert/strict';
import { test } from 'node:test';
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

type Sent = readonly [body: string, type?: string, headers?: Readonly<Record<string, string>>];

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
  ['where=payload.price>=777777.5', [5]],
  ['where=payload.price<777777.5', []],
  ['where=payload.price>777777&where=payload.tags~red', [5]],
  ['where=payload.price>777777&where=payload.tags~green', []],
  ['where=headers.X-Request-Source~billing', [6]],
  ['where=headers.x-number=6', [6]],
  ['where=headers.x-signature~sha256', []],
  ['where=%7B%22path%22:%22headers.authorization%22,%22op%22:%22exists%22%7D', []],
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
    for (const [number, [body, type = 'application/json', headers = {}]] of BODIES.entries()) {
      const answer = await relay.ask('POST', '/webhook/in/hook', Buffer.from(body), {
        'Content-Type': type, 'X-Number': String(number), ...headers,
      });
      assert.equal(answer.status, 200, answer.text);
    }
    for (const [query, found] of CASES) {
      assert.deepEqual(await search(relay, `/api/requests?${query}`), found, query);
    }
  });
});
