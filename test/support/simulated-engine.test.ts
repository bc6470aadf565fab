import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineSession, LogEntry } from '../../src/store/engines/engine.ts';
import { SimulatedEngine } from './simulated-engine.ts';
import { someTurns } from './turns.ts';

const LOG = '11111111-1111-4111-8111-111111111111';
const START = { sequence: 0, chain: '' };

function entry(first: number): LogEntry {
  return {
    first, sequence: first, batchId: `batch-${first}`, chain: `chain-${first}`,
    lines: Buffer.from(`line ${first}\n`),
  };
}

async function start(): Promise<{ engine: SimulatedEngine; session: EngineSession }> {
  const engine = new SimulatedEngine();
  const session = await engine.connect();
  assert.equal(await session.create({ log: LOG, format: 1, floor: 0, ...START }), true);
  return { engine, session };
}

test('lost before, an append is not there; lost after, it is', async () => {
  for (const [fault, count] of [['lost-before', 0], ['lost-after', 1]] as const) {
    const { engine, session } = await start();
    engine.faults = (call) => call === 'append' ? fault : 'none';
    await assert.rejects(session.append(LOG, START, entry(1)), { code: 'unknown_outcome' });
    assert.equal(engine.visible.length, count);
    await assert.rejects(session.head(), { code: 'unknown_outcome' });
  }
});

test('what the quorum lacks is a phantom after a start, and gone after a fail-over', async () => {
  const { engine, session } = await start();
  engine.stopReplicating();
  const append = session.append(LOG, START, entry(1));
  append.catch(() => {});
  await someTurns(5);
  assert.equal(engine.visible.length, 0);
  engine.restart();
  await assert.rejects(append, { code: 'unknown_outcome' });
  const after = await engine.connect();
  assert.equal((await after.readAfter(0, 10)).length, 1);
  engine.failOver(0);
  assert.equal((await (await engine.connect()).readAfter(0, 10)).length, 0);
});
