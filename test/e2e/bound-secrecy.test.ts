/** For the holder of a bound token it is as if nothing but his webhooks were stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HOOKS, UNKNOWN_ID, assertSame, deliveriesOf, emit, inWorld, parse, parseList, settle, type Ask,
} from '../support/customers.ts';
import { until } from '../support/until.ts';

const TWO = { acme: {}, bolt: {} };
const DELIVERIES = '/api/deliveries';

/** The cursor of the next page, as text. */
function readCursor(link: unknown): string {
  const [, cursor = ''] = /[?&]cursor=([^&>]+)/.exec(String(link)) ?? [];
  return Buffer.from(cursor, 'base64url').toString();
}

async function idsIn(askBound: Ask, path: string): Promise<readonly string[]> {
  const answer = await askBound('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return parseList(answer).map(({ identifier, id }) => String(identifier ?? id));
}

test('the list of deliveries is that of his webhooks, whatever it is asked', () =>
  inWorld(TWO, async ({ operator, customer, ids }) => {
    for (const total of [1, 2, 3]) {
      await emit(operator, 'order.paid', { payload: { total, secret: `word${total}` } });
    }
    const own = (await deliveriesOf(operator, 'acme')).map(({ identifier }) => identifier);
    const askAcme = await customer('read', 'acme');
    for (const query of [
      '', '?kind=all', '?kind=webhook', '?hook=acme', `?hook=${ids['acme']}`, '?status=failed',
      '?event=order.paid', '?since=2020-01-01T00:00:00Z',
    ]) {
      const { text, headers } = await askAcme('GET', DELIVERIES + query);
      assert.deepEqual(parseList({ text }).map(({ identifier }) => identifier), own, query);
      assert.equal(headers['x-total-count'], '3', query);
    }
    for (const query of [
      '?hook=bolt', `?hook=${ids['bolt']}`, '?kind=route', '?kind=forward', '?event=order.none',
      '?kind=route&hook=acme',
    ]) {
      const { text, headers } = await askAcme('GET', DELIVERIES + query);
      assert.deepEqual([text, headers['x-total-count']], ['[]', '0'], query);
    }
    const page = await askAcme('GET', `${DELIVERIES}?limit=2&order=newest`);
    assert.equal(readCursor(page.headers.link).split(' ')[0], own[1]);
    const rest = await idsIn(askAcme, String(/<([^>]+)>/.exec(String(page.headers.link))?.[1]));
    assert.deepEqual(rest, [own[0]]);
  }));

test('a search ends its pages at deliveries of his own, and is complete with the last', () =>
  inWorld(TWO, async ({ operator, customer }) => {
    // The newest and the oldest are of the other customer.
    await emit(operator, 'order.paid', { payload: { text: 'needle' } });
    await operator('PATCH', `${HOOKS}/bolt`, { enabled: false });
    for (const _ of [1, 2]) await emit(operator, 'order.paid', { payload: { text: 'needle' } });
    await operator('PATCH', `${HOOKS}/bolt`, { enabled: true });
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    await emit(operator, 'order.paid', { payload: { text: 'needle' } });
    const own = (await deliveriesOf(operator, 'acme')).map(({ identifier }) => identifier);
    const askAcme = await customer('read', 'acme');
    const first = await askAcme('GET', `${DELIVERIES}?q=needle&limit=2`);
    assert.deepEqual(parseList(first).map(({ identifier }) => identifier), [own[2], own[1]]);
    assert.equal(first.headers['x-search-complete'], 'false');
    assert.equal(readCursor(first.headers.link).split(' ')[0], own[1]);
    const all = await askAcme('GET', `${DELIVERIES}?where=payload.text=needle&limit=3`);
    assert.deepEqual([parseList(all).length, all.headers['x-search-complete'], all.headers.link],
      [3, 'true', undefined]);
    assert.deepEqual(await idsIn(askAcme, `${DELIVERIES}?q=none`), []);
  }));

test('a foreign delivery is answered as one that there is not, byte for byte', () =>
  inWorld(TWO, async ({ operator, customer }) => {
    await emit(operator, 'order.paid', { payload: 1 });
    const [foreign] = await deliveriesOf(operator, 'bolt');
    const [own] = await deliveriesOf(operator, 'acme');
    const [foreignId, ownId] = [String(foreign?.['identifier']), String(own?.['identifier'])];
    const askAcme = await customer('write', 'acme');
    const path = (id: string, rest = ''): string => `${DELIVERIES}/${id}${rest}`;
    const same = (request: Parameters<typeof assertSame>[3]) =>
      assertSame(askAcme, foreignId, UNKNOWN_ID, request, 404);
    const { etag = '' } = (await operator('GET', path(foreignId))).headers;
    for (const [method, rest, body, headers] of [
      ['GET', ''], ['GET', '', undefined, { 'if-none-match': etag }], ['HEAD', ''],
      ['GET', '/body'], ['POST', '/resend'], ['POST', '/resend', { as: 'new' }],
      ['POST', '/resend', { as: 'nothing' }], ['POST', '/resend', { as: 'new' }, {
        'idempotency-key': 'k',
      }], ['POST', '/retry'], ['POST', '/cancel'],
    ] as const) await same((id) => [method, path(id, rest), body, headers ?? {}]);
    assert.equal((await askAcme('GET', path(ownId))).status, 200);
    assert.equal((await askAcme('GET', path(ownId, '/body'))).text, '1');
    assert.equal((await askAcme('POST', path(ownId, '/resend'), { as: 'new' })).status, 202);
    assert.equal((await deliveriesOf(operator, 'bolt')).length, 1);
  }));

test('a key belongs to the token and not to its name, and out of sight is no replay', () =>
  inWorld(TWO, async ({ operator, customer }) => {
    await emit(operator, 'order.paid');
    const [own] = await deliveriesOf(operator, 'acme');
    const path = `${DELIVERIES}/${String(own?.['identifier'])}/resend`;
    const resend = (askBound: Ask) =>
      askBound('POST', path, { as: 'new' }, { 'idempotency-key': 'same' });
    const [first, second] = [await customer('resend', 'acme'), await customer('resend', 'acme')];
    const answers = [await resend(first), await resend(first), await resend(second)];
    assert.deepEqual(answers.map(({ status, headers }) =>
      [status, headers['idempotency-replayed']]),
    [[202, undefined], [202, 'true'], [202, undefined]]);
    assert.notEqual(parse(answers[0] ?? { text: '' })['identifier'],
      parse(answers[2] ?? { text: '' })['identifier']);
    await operator('PATCH', `${HOOKS}/acme`, { name: 'gone' });
    assert.equal((await resend(first)).status, 404);
  }));

test('many are sent again of his own alone, by jobs that are his alone', () =>
  inWorld({ ...TWO, 'acme-eu': {} }, async ({ operator, customer, ids }) => {
    for (const total of [1, 2]) await emit(operator, 'order.paid', { payload: { total } });
    const askAcme = await customer('resend', 'acme', 'acme-*');
    const askBolt = await customer('resend', 'bolt');
    const count = async (body: object): Promise<unknown> => parse(
      await askAcme('POST', `${DELIVERIES}/resend`, { dryRun: true, ...body }));
    assert.deepEqual(await count({}), { count: 4 });
    assert.deepEqual(await count({ hook: 'acme' }), { count: 2 });
    assert.deepEqual(await count({ where: ['payload.total=2'] }), { count: 2 });
    for (const hook of ['bolt', ids['bolt'], 'none']) {
      assert.deepEqual(await count({ hook }), { count: 0 });
    }
    const made = await askAcme('POST', `${DELIVERIES}/resend`, { as: 'new' });
    assert.equal(made.status, 202, made.text);
    const jobId = String(parse(made)['id']);
    await until('the job is done', async () =>
      parse(await askAcme('GET', `/api/jobs/${jobId}`))['status'] === 'done');
    await settle(operator);
    assert.deepEqual(await Promise.all(['acme', 'acme-eu', 'bolt'].map(async (hook) =>
      (await deliveriesOf(operator, hook)).length)), [4, 4, 2]);
    assert.deepEqual(await idsIn(askAcme, '/api/jobs'), [jobId]);
    const { text, headers } = await askBolt('GET', '/api/jobs');
    assert.deepEqual([text, headers['x-total-count']], ['[]', '0']);
    for (const method of ['GET', 'DELETE']) {
      await assertSame(askBolt, jobId, UNKNOWN_ID, (id) => [method, `/api/jobs/${id}`], 404);
    }
    const operatorsJob = await operator('POST', `${DELIVERIES}/resend`, { status: 'delivered' });
    await assertSame(askAcme, String(parse(operatorsJob)['id']), UNKNOWN_ID,
      (id) => ['GET', `/api/jobs/${id}`], 404);
    const { text: retried } = await askAcme('POST', `${DELIVERIES}/retry`);
    assert.deepEqual(JSON.parse(retried), { retried: 8 });
  }));

test('the events are those with a delivery to his webhooks, and name these alone', () =>
  inWorld(TWO, async ({ operator, customer, ids }) => {
    const shared = await emit(operator, 'order.paid', { key: 'k1', payload: { a: 'needle' } });
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    const foreign = await emit(operator, 'order.sent', { key: 'k2', payload: { a: 'needle' } });
    const askAcme = await customer('read', 'acme');
    for (const query of [
      '', '?hook=acme', '?heard=true', '?key=k1', '?source=api', '?name=order.*', '?q=needle',
      '?where=payload.a=needle', '?q=order',
    ]) assert.deepEqual(await idsIn(askAcme, `/api/events${query}`), [shared], query);
    for (const query of ['?hook=bolt', `?hook=${ids['bolt']}`, '?key=k2', '?heard=false']) {
      assert.deepEqual(await idsIn(askAcme, `/api/events${query}`), [], query);
    }
    assert.equal((await askAcme('GET', '/api/events')).headers['x-total-count'], '1');
    const event = parse(await askAcme('GET', `/api/events/${shared}`));
    assert.deepEqual([event['key'], event['source'], event['heard']], ['k1', 'api', true]);
    assert.deepEqual((event['deliveries'] as readonly { hook: string }[]).map(({ hook }) => hook),
      [ids['acme']]);
    assert.equal((await askAcme('GET', `/api/events/${shared}/payload`)).text, '{"a":"needle"}');
    for (const rest of ['', '/payload']) {
      await assertSame(askAcme, foreign, UNKNOWN_ID,
        (id) => ['GET', `/api/events/${id}${rest}`, undefined, { 'if-none-match': '*' }], 404);
    }
  }));

test('an event is seen from its first delivery to him on, also a later one', () =>
  inWorld(TWO, async ({ operator, customer, ids }) => {
    const askAcme = await customer('write', 'acme');
    const delayed = await operator('POST', '/api/events', { name: 'order.late', delaySeconds: 1 });
    const lateId = String(parse(delayed)['event']);
    assert.equal((await askAcme('GET', `/api/events/${lateId}`)).status, 404);
    assert.deepEqual(await idsIn(askAcme, '/api/events'), []);
    await until('it has begun', async () =>
      (await askAcme('GET', `/api/events/${lateId}`)).status === 200);
    assert.deepEqual(await idsIn(askAcme, '/api/events'), [lateId]);
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    const missedId = await emit(operator, 'order.missed');
    assert.deepEqual(await idsIn(askAcme, '/api/events'), [lateId]);
    await operator('PATCH', `${HOOKS}/acme`, { enabled: true });
    const since = '2020-01-01T00:00:00Z';
    await operator('POST', `${HOOKS}/acme/backfill`, { since });
    await until('he has it', async () =>
      (await idsIn(askAcme, '/api/events')).join() === [missedId, lateId].join());
    const { deliveries } = parse(await askAcme('GET', `/api/events/${missedId}`));
    assert.deepEqual((deliveries as readonly { hook: string }[]).map(({ hook }) => hook),
      [ids['acme']]);
    // The operator's job is not his.
    assert.deepEqual(await idsIn(askAcme, '/api/jobs'), []);
  }));

test('who was sent a body and not the payload does not learn the payload', () =>
  inWorld({
    acme: { payloadTemplate: '{"only":"{{payload.open}}"}' }, 'acme-plain': {}, bolt: {},
  }, async ({ operator, customer }) => {
    const payload = { open: 'shown', hidden: 'needle' };
    const id = await emit(operator, 'order.paid', { key: 'k1', payload });
    const askAcme = await customer('resend', 'acme');
    const event = parse(await askAcme('GET', `/api/events/${id}`));
    assert.deepEqual(['key', 'source', 'name'].map((member) => event[member]),
      [undefined, undefined, 'order.paid']);
    assert.deepEqual(parseList(await askAcme('GET', '/api/events')).map(({ id, key, source }) =>
      [id, key, source]), [[id, undefined, undefined]]);
    const askPayload = (name: string) => ['GET', `/api/events/${name}/payload`] as const;
    await assertSame(askAcme, id, UNKNOWN_ID, askPayload, 404);
    for (const query of [
      '?q=needle', '?q=shown', '?where=payload.hidden=needle', '?q=order',
      '?where=event=order.paid',
    ]) {
      assert.deepEqual(await idsIn(askAcme, `/api/events${query}`), [], query);
      assert.deepEqual(await idsIn(askAcme, `${DELIVERIES}${query}`), [], query);
    }
    for (const query of ['?key=k1', '?source=api']) {
      const { text, headers } = await askAcme('GET', `/api/events${query}`);
      assert.deepEqual([text, headers['x-total-count']], ['[]', '0'], query);
    }
    const where = ['payload.hidden=needle'];
    assert.deepEqual(
      parse(await askAcme('POST', `${DELIVERIES}/resend`, { dryRun: true, where })), { count: 0 });
    assert.equal((await idsIn(askAcme, DELIVERIES)).length, 1);
    // One of his webhooks that was sent the payload is enough.
    const askBoth = await customer('read', 'acme', 'acme-plain');
    assert.equal((await askBoth('GET', `/api/events/${id}/payload`)).status, 200);
    assert.deepEqual(await idsIn(askBoth, '/api/events?q=needle'), [id]);
    assert.equal((await idsIn(askBoth, `${DELIVERIES}?q=needle`)).length, 1);
    const keys = parseList(await askBoth('GET', DELIVERIES))
      .map(({ hookName, key }) => `${String(hookName)} ${String(key)}`);
    assert.deepEqual(keys.sort(), ['acme null', 'acme-plain k1']);
  }));

test('a webhook with an action hides the payload as one with a template does', () =>
  inWorld({}, async ({ operator, customer, target }) => {
    await operator('POST', '/api/action-configurations',
      { identifier: 'shape', actionType: 'log' });
    const made = await operator('POST', HOOKS, {
      name: 'acme', targetUrl: target.url, triggerEvent: 'order.*', actionConfiguration: 'shape',
    });
    assert.equal(made.status, 201, made.text);
    const id = await emit(operator, 'order.paid', { key: 'k1' });
    const askAcme = await customer('resend', 'acme');
    assert.equal(parse(await askAcme('GET', `/api/events/${id}`))['key'], undefined);
    assert.equal((await askAcme('GET', `/api/events/${id}/payload`)).status, 404);
  }));

test('identifiers are found of his own alone, and in no other collection', () =>
  inWorld(TWO, async ({ operator, customer, ids }) => {
    const shared = await emit(operator, 'order.paid');
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    const foreign = await emit(operator, 'order.paid');
    const askAcme = await customer('read', 'acme');
    const find = async (collection: string, part: string): Promise<unknown> => JSON.parse(
      (await askAcme('GET', `/api/identifiers/${collection}?part=${part}`)).text);
    const [own] = await deliveriesOf(operator, 'acme');
    assert.deepEqual(await find('outgoing-webhooks', 'acme'), [ids['acme']]);
    for (const part of ['bolt', 'bol', ids['bolt'] ?? '', ids['bolt']?.slice(-8) ?? '']) {
      assert.deepEqual(await find('outgoing-webhooks', part), [], part);
    }
    assert.deepEqual(await find('deliveries', '0'), [own?.['identifier']]);
    assert.deepEqual(await find('events', '0'), [shared]);
    assert.deepEqual(await find('events', foreign), []);
    assert.deepEqual(await find('jobs', '0'), []);
    for (const collection of ['books', 'requests', 'incoming-webhooks', 'tokens', 'none']) {
      for (const query of ['?part=0', '', '?x=1']) {
        const { status } = await askAcme('GET', `/api/identifiers/${collection}${query}`);
        assert.equal(status, 403, collection + query);
      }
    }
  }));

test('statistics are those of his webhooks', () =>
  inWorld(TWO, async ({ operator, customer, ids }) => {
    await emit(operator, 'order.paid');
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    await emit(operator, 'order.paid');
    const sum = (counts: unknown): number =>
      (counts as readonly number[]).reduce((total, count) => total + count, 0);
    const askAcme = await customer('read', 'acme');
    for (const window of ['1h', '24h']) {
      const report = parse(await askAcme('GET', `/api/statistics?window=${window}`));
      const deliveries = report['deliveries'] as Record<string, unknown>;
      assert.equal(sum(deliveries['failed']), 1);
      assert.deepEqual((report['hooks'] as readonly { hook: string }[]).map(({ hook }) => hook),
        [ids['acme']]);
    }
    const askNobody = await customer('read', 'nobody');
    const empty = parse(await askNobody('GET', '/api/statistics'));
    const { failed } = empty['deliveries'] as { readonly failed: unknown };
    assert.deepEqual([empty['hooks'], sum(failed)], [[], 0]);
  }));

test('no answer to a customer holds anything of another, whatever he puts where', () =>
  inWorld({ acme: {}, bolt: { description: 'of the other', headers: { 'x-bolt': 'b' } } },
    async ({ operator, customer, ids }) => {
      await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
      const foreignEvent =
        await emit(operator, 'order.foreign', { key: 'key-of-bolt', payload: { word: 'needle' } });
      await operator('PATCH', `${HOOKS}/acme`, { enabled: true });
      const shared = await emit(operator, 'order.paid', { payload: { word: 'needle' } });
      const askBolt = await customer('write', 'bolt');
      const job = await askBolt('POST', `${DELIVERIES}/resend`, { as: 'new' });
      await until('the job is done', async () =>
        parse(await askBolt('GET', `/api/jobs/${String(parse(job)['id'])}`))['status'] === 'done');
      await settle(operator);
      const foreign = await deliveriesOf(operator, 'bolt');
      const foreignIds = [
        ids['bolt'] ?? '', 'bolt', foreignEvent, String(parse(job)['id']),
        ...foreign.map(({ identifier }) => String(identifier)),
      ];
      const told = [...foreignIds, 'order.foreign', 'key-of-bolt', 'x-bolt', 'of the other'];
      const askAcme = await customer('write', 'acme');
      const cursorOf = (id: string): string => Buffer.from(id).toString('base64url');
      const asked = foreignIds.flatMap((id): (readonly [string, string, unknown?])[] => [
        ...[HOOKS, DELIVERIES, '/api/events', '/api/jobs'].flatMap((path) => [
          ['GET', `${path}/${id}`] as const,
          ['GET', `${path}?limit=2&cursor=${cursorOf(id)}`] as const,
          ['GET', `${path}?q=${id}`] as const, ['GET', `${path}?hook=${id}`] as const,
          ['GET', `/api/identifiers/${path.slice('/api/'.length)}?part=${id}`] as const,
        ]),
        ['GET', `${DELIVERIES}/${id}/body`], ['GET', `/api/events/${id}/payload`],
        ['GET', `${DELIVERIES}?event=order.foreign&kind=all`],
        ['GET', '/api/events?key=key-of-bolt'],
        ['GET', `${HOOKS}/${id}/statistics`], ['GET', `${HOOKS}/${id}/examples`],
        ['GET', '/api/statistics'], ['GET', '/api/access'], ['GET', `${HOOKS}?event=order.foreign`],
        ['POST', `${DELIVERIES}/resend`, { dryRun: true, hook: id, event: 'order.foreign' }],
        ['POST', `${DELIVERIES}/${id}/resend`], ['POST', `${DELIVERIES}/${id}/cancel`],
        ['POST', `${HOOKS}/${id}/send`], ['PATCH', `${HOOKS}/${id}`, { name: 'acme' }],
        ['DELETE', `/api/jobs/${id}`], ['POST', `${DELIVERIES}/retry`],
      ]);
      for (const [method, path, body] of asked) {
        const { status, text, headers } = await askAcme(method, path, body);
        assert.ok(status < 500, `${method} ${path}: ${text}`);
        const request = `${path}${JSON.stringify(body ?? '')}`;
        const { date: _, ...rest } = headers;
        const answer = text + JSON.stringify(rest);
        const leaked = told.filter((fact) => answer.includes(fact) && !request.includes(fact)
          && !Buffer.from(path.split('cursor=')[1] ?? '', 'base64url').includes(fact));
        assert.deepEqual(leaked, [], `${method} ${path}: ${answer}`);
      }
      assert.equal((await askAcme('GET', `/api/events/${shared}`)).status, 200);
      assert.equal((await deliveriesOf(operator, 'bolt')).length, foreign.length);
    }));
