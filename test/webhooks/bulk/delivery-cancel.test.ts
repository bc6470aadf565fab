import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHttpTarget } from '../../support/http-target.ts';
import { until } from '../../support/until.ts';
import { startRelay } from '../relay.ts';
import { endedJob } from './ended-job.ts';

const EVENTS = 130;

test('cancels many failed deliveries of one webhook, as a dry run has counted', async () => {
  const relay = await startRelay({ outgoing: { retrySchedule: [] } });
  // It answers: between attempts at a target that is not there are pauses.
  const target = await startHttpTarget();
  try {
    const count = async (query: string): Promise<number> => Number(
      (await relay.ask('GET', `/api/deliveries?limit=1&${query}`)).headers['x-total-count']);
    const addWebhook = async (name: string, triggerEvent: string): Promise<void> => {
      const { status, text } = await relay.ask('POST', '/api/outgoing-webhooks',
        { name, triggerEvent, targetUrl: `${target.url}/500` });
      assert.equal(status, 201, text);
    };
    await addWebhook('dead', 'order.paid');
    await addWebhook('other', 'order.sent');
    relay.webhooks.start();
    for (let n = 0; n < EVENTS; n += 1) await relay.webhooks.emit('order.paid', { n });
    await relay.webhooks.emit('order.sent', {});
    await until('all have failed', async () => await count('status=failed') === EVENTS + 1);
    await relay.ask('PATCH', '/api/outgoing-webhooks/dead', { enabled: false });
    await relay.webhooks.emit('order.paid', {});

    const filter = { hook: 'dead', status: 'failed' };
    const dry = await relay.ask('POST', '/api/deliveries/cancel', { ...filter, dryRun: true });
    assert.deepEqual([dry.status, dry.json], [200, { count: EVENTS }]);
    const { kind, total, done, failed } = await endedJob(relay, '/api/deliveries/cancel', filter);
    assert.deepEqual({ kind, total, done, failed },
      { kind: 'delivery-cancel', total: EVENTS, done: EVENTS, failed: 0 });
    assert.equal(await count('hook=dead&status=cancelled'), EVENTS);
    assert.equal(await count('hook=other&status=failed'), 1);
  } finally {
    await relay.close();
    target.close();
  }
});

test('cancels what is pending or failed, and nothing else, without a status', async () => {
  const relay = await startRelay({ outgoing: { retrySchedule: [] } });
  try {
    await relay.ask('POST', '/api/outgoing-webhooks',
      { name: 'dead', triggerEvent: 'order.*', targetUrl: 'http://127.0.0.1:1/' });
    const [first = ''] = await relay.webhooks.emit('order.paid', {});
    await relay.webhooks.deliveries.cancel(first);
    const [second = ''] = await relay.webhooks.emit('order.paid', {});
    await relay.ask('PATCH', '/api/outgoing-webhooks/dead', { enabled: false });
    relay.webhooks.start();
    const { total, done } = await endedJob(relay, '/api/deliveries/cancel', { hook: 'dead' });
    assert.deepEqual({ total, done }, { total: 1, done: 1 });
    assert.equal(relay.webhooks.deliveries.find(second)?.status, 'cancelled');
    const wrong = await relay.ask('POST', '/api/deliveries/cancel', { status: 'delivered' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /pending.*failed/);
  } finally {
    await relay.close();
  }
});
