import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Simulation } from './simulation.ts';

let release = (): void => {};

/** Takes as long as the test wants. */
class Slow {
  static identifier(): string { return 'slow'; }
  static label(): string { return 'Slow'; }
  async execute(): Promise<object> {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { success: true, data: { made: true } };
  }
}

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

test('what is made for a hook that is disabled meanwhile waits, and goes as it was made',
  async () => {
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
