import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineLink } from '../../../src/store/replication/engine-link.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';

async function connect() {
  const clock = new ManualClock();
  const link = new EngineLink(new SimulatedEngine(), 'node', clock);
  await link.connectFirst(true);
  const { session } = link;
  assert(session !== null);
  return { clock, link, session };
}

test('what a session answers once it was given up is no answer', async () => {
  const { link, session } = await connect();
  assert.equal(await link.ask(session, Promise.resolve('soon')), 'soon');
  const late = link.ask(session, new Promise((resolve) => setImmediate(resolve, 'late')));
  link.drop(session);
  await assert.rejects(late, { code: 'unknown_outcome' });
  assert.equal(link.session, null);
  link.close();
});

test('a call that takes longer than 5 s ends with its session', async () => {
  const { clock, link, session } = await connect();
  const never = new Promise<string>(() => {});
  void link.ask(session, never);
  await clock.advance(5000);
  assert.equal(link.session, session);
  await clock.advance(250);
  assert.equal(link.session, null);
  link.close();
});
