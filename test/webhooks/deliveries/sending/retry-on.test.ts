/** `retryOn` says after which statuses a delivery is tried again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRetriedStatus } from '../../../../src/webhooks/outgoing/retry-on.ts';
import { DOWN, Simulation, type Behaviour } from './simulation.ts';

const answer = (status: number): Behaviour => ({ kind: 'answer', status });
const RETRY_ON = ['5xx', 408, 425, 429];

async function place(
  behaviour: Behaviour, members: object = { retryOn: RETRY_ON },
): Promise<{ simulation: Simulation; hook: string; id: string }> {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', { secret: 'a secret', ...members }, behaviour);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  return { simulation, hook, id };
}

test('a status is tried again when it or its class is in the list', () => {
  const tried = [300, 400, 404, 408, 425, 429, 500, 503, 599]
    .filter((status) => isRetriedStatus(RETRY_ON, status));
  assert.deepEqual(tried, [408, 425, 429, 500, 503, 599]);
  assert.equal(isRetriedStatus(undefined, 404), true);
  assert.equal(isRetriedStatus([], null), true);
  assert.equal(isRetriedStatus([], 503), false);
});

for (const [title, behaviour, members, status] of [
  ['a status of the list', answer(503), undefined, 'pending'],
  ['no connection', DOWN, { retryOn: [] }, 'pending'],
  ['a proxy that fails', { kind: 'proxy' }, { retryOn: [] }, 'pending'],
  ['a status that is not in the list', answer(404), undefined, 'failed'],
  ['any status with an empty list', answer(503), { retryOn: [] }, 'failed'],
  ['any status without a list', answer(404), {}, 'pending'],
] as const) {
  test(`after ${title} a delivery is ${status}`, async () => {
    const { simulation, id } = await place(behaviour, members);
    const delivery = simulation.delivery(id);
    assert.equal(delivery?.status, status);
    assert.equal(delivery.nextAttemptAt === null, status === 'failed');
    await simulation.crash();
    await simulation.clock.advance(10_000);
    assert.equal(simulation.requestsOf(id).length > 1, status === 'pending');
  });
}

const BODY_OK = { path: 'body.ok', op: 'eq', value: true };
const CONFLICT = { path: 'status', op: 'in', value: [200, 409, 410] };
for (const [title, status, body, successWhen, outcome, error] of [
  ['200 with an error in it', 200, '{"ok":false}', BODY_OK, 'pending',
    'the answer does not meet successWhen'],
  ['200 with a text', 200, 'ok', BODY_OK, 'pending', 'the answer does not meet successWhen'],
  ['200 that says so', 200, '{"ok":true}', BODY_OK, 'delivered', null],
  ['500 that says so', 500, '{"ok":true}', BODY_OK, 'failed', null],
  ['500 without an error in it', 500, '', { path: 'body.error', op: 'exists', value: false },
    'failed', null],
  ['a status of the condition', 409, '', CONFLICT, 'delivered', null],
  ['410 in the condition', 410, '', CONFLICT, 'delivered', null],
  ['a text that the condition wants', 200, 'ALL OK', { path: 'body', op: 'contains', value: 'OK' },
    'delivered', null],
] as const) {
  test(`with successWhen, after ${title}, a delivery is ${outcome}`, async () => {
    const { simulation, id } = await place({ kind: 'answer', status, body },
      { retryOn: [], successWhen });
    const delivery = simulation.delivery(id);
    assert.deepEqual([delivery?.status, delivery?.attempts[0]?.error], [outcome, error]);
  });
}

test('410 ends the delivery and disables the webhook, also where the list has it', async () => {
  const { simulation, hook, id } = await place(answer(410), { retryOn: ['4xx', 410] });
  assert.equal(simulation.delivery(id)?.status, 'failed');
  const shown = simulation.webhooks.resources.outgoing.find(hook);
  assert.equal(JSON.parse(shown?.bytes.toString() ?? '{}').disabledReason, 'gone');
});

test('what is not tried again is told, and goes out again when somebody asks', async () => {
  const { simulation, id } = await place(answer(400));
  await simulation.addHook('listener', { triggerEvent: 'delivery.failed' });
  const [second = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(second)?.status, 'failed');
  assert.equal(simulation.requests.filter(({ host }) => host === 'listener').length, 1);
  simulation.targets.set('target', answer(503));
  await simulation.run(simulation.webhooks.deliveries.retry(id));
  await simulation.clock.advance(1000);
  assert.deepEqual([simulation.delivery(id)?.status, simulation.delivery(id)?.failures],
    ['pending', 1]);
});
