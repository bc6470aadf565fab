import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { SwitchedOffError } from '../../../../src/webhooks/actions/run-action.ts';
import { createActionClass } from '../../context.ts';
import { Simulation } from './simulation.ts';

let release = (): void => {};

/** Takes as long as the test wants. */
const Slow = createActionClass('slow', async () => {
  await new Promise<void>((resolve) => {
    release = resolve;
  });
  return { success: true, data: { made: true } };
});

let simulation: Simulation;
let hook = '';
let id = '';

beforeEach(async () => {
  simulation = new Simulation({ actions: [Slow] });
  const { configurations } = simulation.webhooks.resources;
  await simulation.run(configurations.add({ identifier: 'slow', actionType: 'slow' }));
  hook = await simulation.addHook('old', { actionConfiguration: 'slow', secret: 'old' });
  [id = ''] = await simulation.emit();
});

async function end(): Promise<void> {
  release();
  await simulation.clock.advance(1000);
}

test('what is cancelled while its body is made does not go out', async () => {
  await simulation.run(simulation.webhooks.deliveries.cancel(id));
  await end();
  assert.equal(simulation.requests.length, 0);
  assert.equal(simulation.delivery(id)?.status, 'cancelled');
});

test('what is cancelled with its hook while its body is made does not go out', async () => {
  await simulation.run(simulation.webhooks.resources.outgoing.remove(hook));
  await end();
  assert.equal(simulation.requests.length, 0);
  assert.equal(simulation.delivery(id)?.status, 'cancelled');
});

test('what is made for a hook disabled meanwhile waits, and goes as it was made', async () => {
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(hook, { enabled: false }));
  await end();
  assert.equal(simulation.requests.length, 0);
  assert.equal(simulation.delivery(id)?.status, 'pending');
  await simulation.run(outgoing.patch(hook, { enabled: true, actionConfiguration: null }));
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requestsOf(id).map(({ body }) => body), ['{"made":true}']);
});

test('what is made goes to where the hook points by then, signed with its secret', async () => {
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(hook, { targetUrl: 'http://new/', secret: null }));
  await end();
  assert.deepEqual(simulation.requests.map(({ host, headers }) => [host, headers['x-signature']]),
    [['new', undefined]]);
});

test('a stop waits no longer for a body that is being made than for anything else', async () => {
  let isClosed = false;
  const closed = simulation.webhooks.close(1000).then(() => {
    isClosed = true;
  });
  await simulation.clock.advance(1100);
  assert.ok(isClosed);
  await closed;
  await end();
  assert.equal(simulation.requests.length, 0);
  assert.deepEqual([simulation.delivery(id)?.status, simulation.delivery(id)?.attempts.length],
    ['pending', 0]);
});

test('a delivery waits for an action that is switched off, without an attempt', async () => {
  let runs = 0;
  const SwitchedOff = createActionClass('off', async () => {
    runs += 1;
    if (runs === 1) throw new SwitchedOffError(60_000);
    return { success: true, data: { made: runs } };
  });
  const off = new Simulation({ actions: [SwitchedOff] });
  const { configurations } = off.webhooks.resources;
  await off.run(configurations.add({ identifier: 'off', actionType: 'off' }));
  await off.addHook('host', { actionConfiguration: 'off', secret: 's' });
  const [delivery = ''] = await off.emit();
  await off.clock.advance(59_000);
  assert.deepEqual([runs, off.requests.length], [1, 0]);
  const { status, attempts } = off.delivery(delivery) ?? assert.fail();
  assert.deepEqual([status, attempts.length], ['pending', 0]);
  await off.clock.advance(1000);
  // The target takes a moment to answer.
  await off.clock.advance(1000);
  assert.deepEqual(off.requestsOf(delivery).map(({ body }) => body), ['{"made":2}']);
  assert.equal(off.delivery(delivery)?.attempts.length, 1);
});
