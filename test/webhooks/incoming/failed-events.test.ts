/** Events that failed and come again: what is done is not done twice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { until } from '../../support/until.ts';
import { startRelayFor } from '../relay.ts';
import {
  ACCEPTED, HEADER, Scripted, kept, message, reset, send, start, type Shown,
} from './scripted.ts';

describe('an event that failed', () => {
  for (const inbox of ['failed', 'all']) {
    test(`runs again on the first request, with the inbox ${inbox}`, async (context) => {
      const relay = await start(context, { ...HEADER, inbox });
      Scripted.fails = true;
      assert.deepEqual(message(await send(relay, 'a')), [400, 'no']);
      assert.deepEqual(message(await send(relay, 'a')), [400, 'no']);
      Scripted.fails = false;
      const answers = await Promise.all(Array.from({ length: 100 }, () => send(relay, 'a')));
      assert.ok(answers.every(({ status }) => status === 200));
      assert.deepEqual(Scripted.runs.map(({ attempt }) => attempt), [1, 2, 3]);
      const [request = {}, ...others] = (await kept(relay))
        .filter(({ status }) => status !== 'duplicate');
      assert.deepEqual([request['status'], others], ['done', []]);
      assert.equal(Scripted.runs[2]?.request, request['id']);
      const [route] = request['routes'] as Shown[];
      const attempts = route?.['attempts'] as Shown[];
      assert.deepEqual(attempts.map(({ success }) => success), [false, false, true]);
      assert.deepEqual(message(await send(relay, 'a')), [200, 'Duplicate']);
    });
  }

  test('runs its failed routes alone', async (context) => {
    reset();
    const relay = await startRelayFor(context, { actions: [Scripted] });
    const scripted = await relay.ask('POST', '/api/action-configurations',
      { actionType: 'scripted' });
    const log = await relay.ask('POST', '/api/action-configurations', { actionType: 'log' });
    await relay.ask('POST', '/api/incoming-webhooks', {
      pathSegment: 'hook', ...HEADER, routes: [
        { name: 'good', actionConfiguration: log.json['identifier'] },
        { name: 'bad', actionConfiguration: scripted.json['identifier'] },
      ],
    });
    Scripted.fails = true;
    assert.equal((await send(relay, 'a')).status, 400);
    Scripted.fails = false;
    const again = await send(relay, 'a');
    assert.equal(again.status, 200);
    assert.deepEqual(Object.keys((again.json['data'] as Shown)['routes'] as Shown),
      ['good', 'bad']);
    const [{ routes, status } = {}] = await kept(relay);
    assert.deepEqual([status, (routes as Shown[]).map(({ name, attempts }) =>
      [name, (attempts as unknown[]).length])], ['done', [['good', 1], ['bad', 2]]]);
  });

  test('because the queue was full is stored at the last place of the inbox, and runs only the '
    + 'route that was refused', async (context) => {
    reset();
    const relay = await startRelayFor(context, {
      actions: [Scripted], inbox: { maxCount: 1 }, outgoing: { maxPending: 1 },
    });
    await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'full' });
    assert.equal((await relay.ask('POST', '/api/events', { name: 'full' })).status, 202);
    const scripted = await relay.ask('POST', '/api/action-configurations',
      { actionType: 'scripted' });
    const emit = await relay.ask('POST', '/api/action-configurations',
      { actionType: 'emit-event', options: { name: 'full' } });
    await relay.ask('POST', '/api/incoming-webhooks', {
      pathSegment: 'hook', ...HEADER, inbox: 'all', routes: [
        { name: 'good', actionConfiguration: scripted.json['identifier'] },
        { name: 'refused', actionConfiguration: emit.json['identifier'] },
      ],
    });
    assert.equal((await send(relay, 'a')).status, 503);
    assert.deepEqual((await kept(relay)).map(({ status }) => status), ['failed']);
    assert.equal((await send(relay, 'a')).status, 503);
    assert.equal(Scripted.runs.length, 1);
  });

  test('is due again where requests are accepted', async (context) => {
    const relay = await start(context, { ...HEADER, ...ACCEPTED },
      { incoming: { retrySchedule: [] } });
    relay.webhooks.start();
    Scripted.fails = true;
    const first = await send(relay, 'a');
    await until('it has failed', async () => (await kept(relay))[0]?.['status'] === 'failed');
    Scripted.fails = false;
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(relay, 'a')));
    assert.ok(answers.every(({ status, json }) => status === 200
      && (json['data'] as Shown)['request'] === (first.json['data'] as Shown)['request']));
    assert.equal(answers.filter(({ json }) => json['message'] === '').length, 1);
    await until('it is done', async () =>
      (await kept(relay)).some(({ status }) => status === 'done'));
    assert.equal(Scripted.runs.length, 2);
  });

  test('is new once its request is deleted, and a done one is not', async (context) => {
    const relay = await start(context, { ...HEADER, inbox: 'all' });
    Scripted.fails = true;
    await send(relay, 'failed');
    Scripted.fails = false;
    await send(relay, 'done');
    for (const { id } of await kept(relay)) {
      assert.equal((await relay.ask('DELETE', `/api/requests/${String(id)}`)).status, 204);
    }
    assert.deepEqual(message(await send(relay, 'failed')), [200, '']);
    assert.deepEqual(message(await send(relay, 'done')), [200, 'Duplicate']);
  });

  const places = { headers: HEADER, body: { deduplicate: { json: 'id' } } };
  for (const [place, hook] of Object.entries(places)) {
    for (const inbox of ['failed', 'all']) {
      test(`is known by the id that came in the ${place}, whatever its action made of them, with `
        + `the inbox ${inbox}`, async (context) => {
        const relay = await start(context, { ...hook, inbox });
        Object.assign(Scripted, { fails: true, changes: true });
        await send(relay, 'a');
        const [{ id, eventId } = {}] = await kept(relay);
        assert.equal(eventId, 'a');
        // It was not done, so that it may come again.
        await relay.ask('DELETE', `/api/requests/${String(id)}`);
        Scripted.fails = false;
        assert.deepEqual(message(await send(relay, 'a')), [200, '']);
      });
    }
  }
});

test('an event that failed runs again where nothing is stored', async (context) => {
  const relay = await start(context, { ...HEADER, inbox: 'off' });
  Scripted.fails = true;
  assert.deepEqual(message(await send(relay, 'a')), [400, 'no']);
  assert.deepEqual(await kept(relay), []);
  Scripted.fails = false;
  assert.deepEqual(message(await send(relay, 'a')), [200, '']);
  assert.equal(Scripted.runs.length, 2);
});

test('no action runs for a request that cannot be stored', async (context) => {
  const relay = await start(context, { inbox: 'all' });
  const store = relay.store as MemoryStore;
  store.setFailure(new AppError('unavailable', 'the disk is gone'));
  assert.equal((await send(relay, 'a')).status, 503);
  assert.equal(Scripted.runs.length, 0);
  store.setFailure(null);
});
