/** What the holder of a bound token may change, and that the log says who it was. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { outgoingSchema } from '../../src/webhooks/outgoing/outgoing-webhook.ts';
import {
  HOOKS, UNKNOWN_ID, assertSame, deliveriesOf, emit, inWorld, parse, parseList, settle, type Json,
} from '../support/customers.ts';
import { makeBoundToken } from '../support/make-token.ts';
import { until } from '../support/until.ts';
import { runCommand } from '../cli/io.ts';
import { ask } from './ask.ts';

const TWO = { acme: {}, bolt: {} };
const MEMBERS: Readonly<Record<string, unknown>> = {
  enabled: false, targetUrl: 'http://127.0.0.1:9/new', headers: { 'x-a': 'b' },
  description: 'ours', rate: { limit: 5, seconds: 1 }, maxInFlight: 8,
};
const OTHERS = Object.keys(outgoingSchema.members).filter((name) => !(name in MEMBERS));

test('a scope says which members of his webhook a customer may set, and others are named', () =>
  inWorld(TWO, async ({ customer }) => {
    assert.ok(OTHERS.includes('name') && OTHERS.includes('when') && OTHERS.length > 15);
    const [reader, resender, writer] = [
      await customer('read', 'acme'), await customer('resend', 'acme'),
      await customer('write', 'acme'),
    ];
    for (const [name, value] of Object.entries(MEMBERS)) {
      const patch = { [name]: value };
      assert.equal((await reader('PATCH', `${HOOKS}/acme`, patch)).status, 403, name);
      const ofResender = await resender('PATCH', `${HOOKS}/acme`, patch);
      assert.equal(ofResender.status, name === 'enabled' ? 200 : 403, name);
      const ofWriter = await writer('PATCH', `${HOOKS}/acme`, patch);
      assert.equal(ofWriter.status, 200, ofWriter.text);
      const shown = name === 'headers' ? { 'x-a': '***' } : value;
      assert.deepEqual(parse(ofWriter)[name], shown, name);
    }
    for (const name of [...OTHERS, 'nothing', '__proto__', 'constructor']) {
      for (const value of [null, 'x']) {
        const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const patch = JSON.parse(`{"enabled":true,${member}}`);
        const refused = await writer('PATCH', `${HOOKS}/acme`, patch);
        assert.equal(refused.status, 403, `${name}: ${refused.text}`);
        assert.ok(String(parse(refused)['detail']).includes(`"${name}"`), refused.text);
      }
    }
    // Nothing of a refused patch was done.
    assert.equal(parse(await reader('GET', `${HOOKS}/acme`))['enabled'], false);
    assert.equal((await writer('PUT', `${HOOKS}/acme`, {})).status, 403);
    assert.equal((await writer('DELETE', `${HOOKS}/acme`)).status, 403);
  }));

test('one customer does not take the places of all', () =>
  inWorld(TWO, async ({ customer, operator }) => {
    const writer = await customer('write', 'acme');
    const refused = await writer('PATCH', `${HOOKS}/acme`, { maxInFlight: 4 });
    assert.equal(refused.status, 422);
    const [problem] = parse(refused)['errors'] as readonly { pointer: string; detail: string }[];
    assert.deepEqual([problem?.pointer, problem?.detail],
      ['/maxInFlight', 'must be at most 3 for this token']);
    for (const maxInFlight of [3, null, 1]) {
      assert.equal((await writer('PATCH', `${HOOKS}/acme`, { maxInFlight })).status, 200);
    }
    assert.equal((await operator('PATCH', `${HOOKS}/acme`, { maxInFlight: 50 })).status, 200);
  }, { HOOKSHELF_OUTGOING_MAX_IN_FLIGHT_PER_HOOK: '3' }));

test('what a customer sends again leaves half of the queue for what others send', () =>
  inWorld(TWO, async ({ customer, operator }) => {
    const reseller = await customer('resend', 'acme');
    await emit(operator, 'order.paid');
    const [delivery] = await deliveriesOf(operator, 'acme');
    const path = `/api/deliveries/${delivery?.['identifier']}/resend`;
    await reseller('PATCH', `${HOOKS}/acme`, { enabled: false });
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await reseller('POST', path, { as: 'new' })).status, 202);
    }
    const refused = await reseller('POST', path, { as: 'new' });
    assert.equal(refused.status, 503);
    assert.match(refused.text, /is full: 3 wait \(half of outgoing.maxPending\)/);
    for (const rest of ['/api/deliveries/retry', path.replace('resend', 'retry')]) {
      assert.equal((await reseller('POST', rest)).status, 503, rest);
    }
    const job = parse(await reseller('POST', '/api/deliveries/resend', { status: 'failed' }));
    await operator('PATCH', `${HOOKS}/acme`, { triggerEvent: 'book.*' });
    await operator('POST', '/api/events', { name: 'order.missed' });
    await operator('PATCH', `${HOOKS}/acme`, { triggerEvent: 'order.*' });
    const since = '2020-01-01T00:00:00Z';
    const backfill = parse(await reseller('POST', `${HOOKS}/acme/backfill`, { since }));
    assert.equal((await operator('POST', '/api/events', { name: 'order.due' })).status, 202);
    assert.equal((await operator('POST', path, { as: 'new' })).status, 202);
    for (const { id } of [job, backfill]) {
      const waiting = parse(await reseller('GET', `/api/jobs/${String(id)}`));
      assert.deepEqual([waiting['status'], waiting['done']], ['running', 0]);
    }
  }, { HOOKSHELF_OUTGOING_MAX_PENDING: '6' }));

test('new deliveries of a customer fill half of the bytes of the queue', () =>
  inWorld(TWO, async ({ customer, operator }) => {
    const reseller = await customer('resend', 'acme');
    await emit(operator, 'order.paid', { payload: 'x'.repeat(5000) });
    const [delivery] = await deliveriesOf(operator, 'acme');
    const path = `/api/deliveries/${delivery?.['identifier']}/resend`;
    await reseller('PATCH', `${HOOKS}/acme`, { enabled: false });
    let answer = await reseller('POST', path, { as: 'new' });
    assert.equal(answer.status, 202);
    for (let count = 0; count < 40 && answer.status === 202; count += 1) {
      answer = await reseller('POST', path, { as: 'new' });
    }
    assert.equal(answer.status, 503);
    // How many bytes of others are among them is nothing for a customer.
    assert.match(answer.text, /is full: half of outgoing.maxPendingBytes \(20000\) is taken"/);
    assert.equal((await operator('POST', path, { as: 'new' })).status, 202);
  }, { HOOKSHELF_OUTGOING_MAX_PENDING_BYTES: '20000' }));

test('a job ends with the token that began it, and says so', () =>
  inWorld(TWO, async ({ server, operator }) => {
    await emit(operator, 'order.paid');
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    const [delivery] = await deliveriesOf(operator, 'acme');
    const path = `/api/deliveries/${delivery?.['identifier']}/resend`;
    // The queue is full, so the job waits.
    for (let count = 0; count < 2; count += 1) await operator('POST', path, { as: 'new' });
    const { token } = await makeBoundToken(server.data, 'resend', 'acme');
    const added = await ask(`${server.url}/api/deliveries/resend`, {
      method: 'POST', headers: { authorization: `Bearer ${token}` },
      body: { status: 'failed', as: 'new' },
    });
    assert.equal(added.status, 202, added.text);
    const readJob = async (): Promise<Json> =>
      parse(await operator('GET', `/api/jobs/${String(parse(added)['id'])}`));
    assert.deepEqual([(await readJob())['status'], (await readJob())['reason']], ['running', null]);
    const revoked = await runCommand(
      ['token:revoke', '--identifier', 'acme', '--data', server.data]);
    assert.equal(revoked.code, 0, revoked.stderr);
    await until('the job has ended', async () => (await readJob())['status'] === 'cancelled');
    assert.match(String((await readJob())['reason']), /^the token that began it was revoked/);
  }, { HOOKSHELF_OUTGOING_MAX_PENDING: '4' }));

test('a target does not move to where access tokens of an operator would go', () =>
  inWorld({
    acme: {
      oauth2: { tokenUrl: 'http://127.0.0.1:9/token', clientId: 'c', clientSecret: 'secret-of-c' },
    },
  }, async ({ customer, target }) => {
    const writer = await customer('write', 'acme');
    const moved = await writer('PATCH', `${HOOKS}/acme`, { targetUrl: 'http://127.0.0.1:8/' });
    assert.equal(moved.status, 403);
    assert.match(String(parse(moved)['detail']), /"targetUrl"/);
    const stayed = await writer('PATCH', `${HOOKS}/acme`, { targetUrl: `${target.url}/200` });
    assert.equal(stayed.status, 200, stayed.text);
  }));

test('a change of a foreign webhook is answered as one of a webhook that there is not', () =>
  inWorld(TWO, async ({ customer, operator, ids }) => {
    const writer = await customer('write', 'acme');
    const { etag = '' } = (await operator('GET', `${HOOKS}/bolt`)).headers;
    for (const [method, rest, body, headers] of [
      ['PATCH', '', { enabled: false }, {}], ['PATCH', '', { name: 'mine' }, {}],
      ['PATCH', '', { targetUrl: 7 }, {}], ['PATCH', '', 'no object', {}],
      ['PATCH', '', { enabled: false }, { 'if-match': etag }],
      ['PATCH', '', { enabled: false }, { 'if-match': '"other"' }],
      ['PATCH', '', { enabled: false }, { 'content-type': 'text/plain' }],
      ['POST', '/rotate-secret', undefined, {}], ['POST', '/rotate-secret', { secret: 1 }, {}],
      ['POST', '/send', undefined, {}], ['POST', '/send', { payload: 1, retries: 'x' }, {}],
      ['POST', '/backfill', { since: '2020-01-01T00:00:00Z' }, { 'idempotency-key': 'k' }],
      ['POST', '/backfill', {}, {}],
    ] as const) {
      const request = (name: string) =>
        [method, `${HOOKS}/${name}${rest}`, body, headers as Record<string, string>] as const;
      await assertSame(writer, 'bolt', 'none', request, 404);
      await assertSame(writer, ids['bolt'] ?? '', UNKNOWN_ID, request, 404);
    }
    const { text } = await operator('GET', `${HOOKS}/bolt`);
    assert.deepEqual([parse({ text })['enabled'], parse({ text })['hasSecret']], [true, false]);
  }));

test('a customer gives no secret whose key is short, but where another system makes it', () =>
  inWorld({
    acme: {}, github: { signing: { preset: 'github' }, secret: 'first' },
    svix: { signing: { preset: 'svix' }, secret: `whsec_${'A'.repeat(32)}` },
  }, async ({ customer, operator }) => {
    const writer = await customer('write', 'acme', 'github', 'svix');
    for (const [name, secret, length] of [
      ['acme', 'a', 1], ['acme', 'é'.repeat(11), 22], ['acme', 'whsec_YWJj', 3],
      ['svix', 'whsec_YWJj', 3],
    ] as const) {
      const refused = await writer('POST', `${HOOKS}/${name}/rotate-secret`, { secret });
      assert.equal(refused.status, 422, refused.text);
      assert.deepEqual(parse(refused)['errors'], [{
        pointer: '/secret',
        detail: `must be a key of at least 24 bytes, not ${length}: leave it out, and one is made`,
      }]);
    }
    for (const [name, secret] of [
      ['acme', 'x'.repeat(24)], ['svix', `whsec_${'B'.repeat(32)}`], ['github', 'short'],
    ] as const) {
      const rotated = await writer('POST', `${HOOKS}/${name}/rotate-secret`, { secret });
      assert.equal(rotated.status, 200, rotated.text);
    }
    const rotated = await operator('POST', `${HOOKS}/acme/rotate-secret`,
      { secret: 'mine', force: true });
    assert.equal(rotated.status, 200, rotated.text);
  }));

test('a customer rotates his secret, sends a test, has what he missed, and cancels', () =>
  inWorld({ ...TWO, slow: { retrySchedule: [3600] } },
    async ({ customer, operator, target, server }) => {
      await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
      await operator('POST', '/api/events', { name: 'order.missed' });
      await settleBut(1);
      await operator('PATCH', `${HOOKS}/acme`, { enabled: true });
      const writer = await customer('write', 'acme', 'slow');
      const rotated = await writer('POST', `${HOOKS}/acme/rotate-secret`);
      assert.equal(rotated.status, 200, rotated.text);
      assert.match(String(parse(rotated)['secret']), /^whsec_/);
      assert.equal(parse(await writer('GET', `${HOOKS}/acme`))['secret'], undefined);
      const before = target.received.length;
      const sent = await writer('POST', `${HOOKS}/acme/send`, { payload: { test: true } });
      assert.deepEqual([sent.status, parse(sent)['success']], [200, false]);
      assert.equal(target.received.length, before + 1);
      const since = '2020-01-01T00:00:00Z';
      const backfill = await writer('POST', `${HOOKS}/acme/backfill`, { since });
      assert.equal(backfill.status, 202, backfill.text);
      await until('the job is done', async () => parse(await writer('GET',
        `/api/jobs/${String(parse(backfill)['id'])}`))['status'] === 'done');
      await settleBut(1);
      assert.equal((await deliveriesOf(operator, 'acme')).length, 1);
      const [pending] = await deliveriesOf(operator, 'slow');
      const path = `/api/deliveries/${String(pending?.['identifier'])}`;
      assert.equal((await writer('POST', `${path}/retry`)).status, 202);
      const cancelled = await writer('POST', `${path}/cancel`);
      assert.equal(cancelled.status, 202, cancelled.text);
      await settle(operator);
      const lines = server.log().split('\n').filter((line) => line.includes('"who":"acme"'))
        .map((line) => JSON.parse(line));
      assert.deepEqual(lines.filter(({ operation }) => operation !== undefined)
        .map(({ level, operation }) => [level, operation]), [
        'rotateOutgoingWebhookSecret', 'sendOutgoingWebhook', 'backfillOutgoingWebhook',
        'retryDelivery', 'cancelDelivery',
      ].map((operation) => ['info', operation]));

      async function settleBut(count: number): Promise<void> {
        await until(`only ${count} are pending`, async () => parseList(
          await operator('GET', '/api/deliveries?status=pending')).length === count);
      }
    }));

test('nothing of a customer reaches an action of the operator', () =>
  inWorld({}, async ({ customer, operator, target }) => {
    await operator('POST', '/api/action-configurations',
      { identifier: 'shape', actionType: 'log' });
    await operator('POST', HOOKS, {
      name: 'acme', targetUrl: target.url, triggerEvent: 'order.*', actionConfiguration: 'shape',
    });
    for (const scope of ['resend', 'write'] as const) {
      const askAcme = await customer(scope, 'acme');
      for (const body of [undefined, { payload: 1 }]) {
        assert.equal((await askAcme('POST', `${HOOKS}/acme/send`, body)).status, 403);
      }
    }
    assert.equal(target.received.length, 0);
  }));

test('a webhook that goes out of sight while the body of a change comes is not changed', () =>
  inWorld(TWO, async ({ operator, server, ids }) => {
    const { token } = await makeBoundToken(server.data, 'write', 'acme');
    await emit(operator, 'order.paid');
    const [delivery] = await deliveriesOf(operator, 'acme');
    const path = `${HOOKS}/${ids['acme']}`;
    for (const [method, place, body] of [
      ['PATCH', path, '{"enabled":false}'], ['POST', `${path}/rotate-secret`, '{"overlapHours":0}'],
      ['POST', `${path}/send`, '{"payload":1}'],
      ['POST', `${path}/backfill`, '{"since":"2026-01-01T00:00:00Z"}'],
      ['POST', `/api/deliveries/${delivery?.['identifier']}/resend`, '{"as":"new"}'],
    ] as const) {
      const sent = request(`${server.url}${place}`, {
        method, agent: false, headers: {
          authorization: `Bearer ${token}`, 'content-type': 'application/json',
          'content-length': body.length,
        },
      });
      sent.write(body.slice(0, 3));
      // It has come in by then, as the answer to a later one is there.
      await operator('GET', `${HOOKS}/acme`);
      await operator('PATCH', `${HOOKS}/acme`, { name: 'out' });
      const responded = once(sent, 'response');
      sent.end(body.slice(3));
      const [{ statusCode }] = await responded as [{ readonly statusCode: number }];
      assert.equal(statusCode, 404, method + place);
      await operator('PATCH', `${HOOKS}/out`, { name: 'acme' });
    }
    const webhook = parse(await operator('GET', `${HOOKS}/acme`));
    assert.deepEqual([webhook['enabled'], webhook['hasSecret']], [true, false]);
    assert.equal((await deliveriesOf(operator, 'acme')).length, 1);
    assert.deepEqual(parseList(await operator('GET', '/api/jobs')), []);
  }));
