/** What an action is told of a kept request is what it was told when the request came. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isHeadWhole } from '../../../src/webhooks/inbox/intake/stored-head.ts';
import { makeStoredRequest } from '../inbox/sample-request.ts';
import { until } from '../../support/until.ts';
import { createActionClass } from '../context.ts';
import { startRelayFor } from '../relay.ts';

type Call = { readonly payload: unknown; readonly context: Readonly<Record<string, unknown>> };

let calls: Call[] = [];
const Tells = createActionClass('tells', (payload: unknown, context: Call['context']) => {
  calls.push({ payload, context: { ...context } });
  return { success: true };
});

const SECRET = 's'.repeat(40);
const BODIES = [
  ['application/json', '{"a":[1,"\u00fc"],\n"b":{}}'], ['application/json', 'no JSON'],
  ['application/x-www-form-urlencoded', 'a=1&a=2&b=%20'], ['text/plain', 'text'],
  ['application/json', `{"large":"${'x'.repeat(20_000)}"}`],
] as const;

test('a replay is told what the first run was told', async (context) => {
  const relay = await startRelayFor(context, { actions: [Tells] });
  relay.webhooks.start();
  const made = await relay.hook({ actionType: 'tells' }, {
    secret: SECRET, verification: { preset: 'github' }, inbox: 'all',
  });
  assert.equal(made.status, 201, made.text);
  for (const [index, [type, body]] of BODIES.entries()) {
    calls = [];
    const answer = await relay.ask('POST', '/webhook/in/hook?a=b%20c', body, {
      'Content-Type': type, 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': `delivery-${index}`,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      'X-Several': ['one', 'two'], 'X-Hookshelf-Chain': '3',
    });
    assert.equal(answer.status, 200, answer.text);
    const [{ id }] = JSON.parse((await relay.ask('GET', '/api/requests')).text);
    assert.equal((await relay.ask('POST', `/api/requests/${id}/replay`, {})).status, 202);
    await until('it has run again', () => calls.length === 2);
    const [first, second] = calls;
    assert.deepEqual(second, {
      payload: first?.payload, context: { ...first?.context, attempt: 2, replay: true },
    });
    assert.deepEqual([first?.context['request'], first?.context['attempt']], [id, 1]);
  }
});

test('a replay lacks the credentials that were never stored', async (context) => {
  const relay = await startRelayFor(context, { actions: [Tells] });
  relay.webhooks.start();
  await relay.hook({ actionType: 'tells' }, { inbox: 'all' });
  calls = [];
  await relay.ask('POST', '/webhook/in/hook', '{}', { Authorization: 'Bearer x', Cookie: 'a=b' });
  const [{ id }] = JSON.parse((await relay.ask('GET', '/api/requests')).text);
  await relay.ask('POST', `/api/requests/${id}/replay`, {});
  await until('it has run again', () => calls.length === 2);
  const [first, second] = calls.map(({ context: { headers } }) =>
    headers as Readonly<Record<string, unknown>>);
  assert.equal(first?.['authorization'], 'Bearer x');
  assert.deepEqual([second?.['authorization'], second?.['cookie']], [undefined, undefined]);
});

for (const [name, more] of [
  ['without credentials', {}], ['with credentials', { Authorization: 'Bearer x' }],
] as const) {
  test(`an accepted request ${name} is run with what a replay of it is told`, async (context) => {
    const relay = await startRelayFor(context, { actions: [Tells] });
    relay.webhooks.start();
    await relay.hook({ actionType: 'tells' }, { inbox: 'all', answer: 'accepted' });
    calls = [];
    const { text } = await relay.ask('POST', '/webhook/in/hook', `{"a":"${'x'.repeat(1000)}"}`, {
      'Content-Type': 'application/json', 'X-Several': ['one', 'two'], ...more,
    });
    const { data: { request } } = JSON.parse(text);
    await until('it is done', async () => {
      const shown = await relay.ask('GET', `/api/requests/${request}`);
      return JSON.parse(shown.text).status === 'done';
    });
    const replay = await relay.ask('POST', `/api/requests/${request}/replay`, {});
    assert.equal(replay.status, 202, replay.text);
    await until('it has run again', () => calls.length === 2);
    const [first, second] = calls;
    assert.deepEqual(second, {
      payload: first?.payload, context: { ...first?.context, attempt: 2, replay: true },
    });
    const headers = first?.context['headers'] as Readonly<Record<string, unknown>>;
    assert.deepEqual([headers['x-several'], headers['authorization']], ['one, two', undefined]);
  });
}

test('headers of which a credential was masked are not whole', () => {
  const cases = [['plain', true], ['***', false], ['/?token=***', false]] as const;
  for (const [value, isWhole] of cases) {
    const request = makeStoredRequest({ given: { headers: [['A', 'b'], ['C', value]] } });
    assert.equal(isHeadWhole(request), isWhole, value);
  }
});
