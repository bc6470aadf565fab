import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActionClass } from '../context.ts';
import { Held, InboxSimulation } from '../inbox/runs/inbox.ts';
import { Simulation } from '../deliveries/sending/simulation.ts';
import { ScriptedOwnership } from './scripted-ownership.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function one(): Promise<{
  readonly ownership: ScriptedOwnership; readonly simulation: Simulation; readonly hook: string;
}> {
  const ownership = new ScriptedOwnership();
  const simulation = new Simulation({ ownership });
  return { ownership, simulation, hook: await simulation.addHook('target') };
}

test('what another owns waits, and is taken up once it is ours', async () => {
  const { ownership, simulation, hook } = await one();
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(60_000);
  assert.deepEqual(simulation.requests, []);
  ownership.gain(hook);
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('what was ours is let go, retries too', async () => {
  const { ownership, simulation, hook } = await one();
  ownership.gain(hook);
  simulation.targets.set('target', { kind: 'answer', status: 500 });
  await simulation.emit();
  await simulation.clock.advance(1000);
  ownership.lose(hook);
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.requests.length, 1);
});

test('a result of which the lease has ended is not written', async () => {
  const { ownership, simulation, hook } = await one();
  const lease = ownership.gain(hook);
  simulation.targets.set('target', { kind: 'slow', ms: 500 });
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(100);
  assert.equal(lease.underWay, 1);
  ownership.lose(hook);
  await simulation.clock.advance(10_000);
  assert.equal(lease.underWay, 0);
  assert.deepEqual(simulation.delivery(id)?.attempts, []);
  assert.equal(simulation.delivery(id)?.status, 'pending');
  ownership.gain(hook);
  await simulation.clock.advance(10_000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  assert.equal(simulation.requests.length, 2);
});

test('a target that is gone ends nothing that has become another\'s', async () => {
  const { ownership, simulation, hook } = await one();
  ownership.gain(hook);
  simulation.targets.set('target', { kind: 'answer', status: 410 });
  const ids = await simulation.emit();
  ids.push(...await simulation.emitMany(600));
  await simulation.clock.advance(5);
  ownership.lose(hook);
  await simulation.clock.advance(10_000);
  assert.deepEqual([...new Set(ids.map((id) => simulation.delivery(id)?.status))], ['pending']);
});

test('what is under way is cut off when its lease ends, and counts as not made', async () => {
  const { ownership, simulation, hook } = await one();
  const lease = ownership.gain(hook);
  simulation.targets.set('target', { kind: 'hang' });
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  lease.isInTime = false;
  lease.cutOff();
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requests.map(({ result }) => result), ['aborted']);
  assert.deepEqual(simulation.delivery(id)?.attempts, []);
  assert.equal(lease.underWay, 0);
});

test('nothing begins while there is no time for it, and all of it once there is', async () => {
  const { ownership, simulation, hook } = await one();
  ownership.gain(hook);
  ownership.setOpen(false);
  const ids = [...await simulation.emit(), ...await simulation.emit()];
  await simulation.clock.advance(60_000);
  assert.deepEqual(simulation.requests, []);
  ownership.setOpen(true);
  await simulation.clock.advance(1000);
  assert.deepEqual(ids.map((id) => simulation.delivery(id)?.status), ['delivered', 'delivered']);
});

test('an attempt whose preparing took too long sends nothing', async () => {
  const { ownership, simulation, hook } = await one();
  const lease = ownership.gain(hook);
  let asked = 0;
  lease.mayContinue = () => {
    asked += 1;
    return asked > 1;
  };
  ownership.setOpen(true);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(10_000);
  assert.equal(asked, 2);
  assert.equal(simulation.requests.length, 1);
  assert.equal(simulation.delivery(id)?.attempts.length, 1);
});

test('a body ready after its lease has ended replaces none: retries are the same', async () => {
  const ends: (() => void)[] = [];
  const Slow = createActionClass('slow', async () => {
    const data = { run: ends.length };
    await new Promise<void>((resolve) => ends.push(resolve));
    return { success: true, data };
  });
  const ownership = new ScriptedOwnership();
  const simulation = new Simulation({ ownership, actions: [Slow] });
  const { configurations } = simulation.webhooks.resources;
  await simulation.run(configurations.add({ identifier: 'slow', actionType: 'slow' }));
  const hook = await simulation.addHook('target',
    { actionConfiguration: 'slow' }, { kind: 'answer', status: 500 });
  const lease = ownership.gain(hook);
  await simulation.emit();
  ownership.gain(hook);
  lease.cutOff();
  await simulation.clock.advance(1000);
  for (const end of ends.toReversed()) {
    end();
    await simulation.clock.advance(1000);
  }
  await simulation.clock.advance(10_000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['{"run":1}', '{"run":1}']);
});

test('forwards to a host are owned together', async () => {
  const ownership = new ScriptedOwnership();
  const simulation = new Simulation({ ownership });
  await simulation.run(simulation.webhooks.deliveries.queueForward({
    url: 'http://forwarded/', method: 'POST', headers: {}, body: Buffer.from('x'),
  }));
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requests, []);
  ownership.gain('forward forwarded');
  await simulation.clock.advance(1000);
  assert.equal(simulation.requests.length, 1);
});

test('runs of kept requests follow the same rules', async () => {
  const ownership = new ScriptedOwnership();
  const simulation = new InboxSimulation({ ownership });
  const hook = await simulation.addWebhook();
  const held = new Held();
  simulation.act = held.act;
  const id = await simulation.accept(hook);
  await simulation.clock.advance(1000);
  assert.equal(simulation.runs.length, 0);
  ownership.gain(hook);
  await simulation.clock.advance(1000);
  assert.equal(simulation.runs.length, 1);
  ownership.lose(hook);
  held.end();
  await simulation.clock.advance(10_000);
  assert.equal(simulation.request(id)?.status, 'pending');
  ownership.gain(hook);
  await simulation.clock.advance(1000);
  held.end();
  await simulation.clock.advance(1000);
  assert.equal(simulation.request(id)?.status, 'done');
  assert.equal(simulation.runs.length, 2);
});

test('of several nodes one removes what is old', async () => {
  const { ownership, simulation, hook } = await one();
  ownership.gain(hook);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  simulation.clock.standStill(8 * DAY_MS);
  await simulation.clock.advance(120_000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  ownership.setMaintaining(true);
  await simulation.clock.advance(120_000);
  assert.equal(simulation.delivery(id), undefined);
});
