/** What a run makes of an action that throws, or does not end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/base/log.ts';
import type {
  ActionCall, RegisteredAction,
} from '../../../src/webhooks/actions/action-registry.ts';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { RateLimitedLog } from '../../../src/base/rate-limited-log.ts';
import {
  ChainRefusal, CoalescedResult, runAction,
} from '../../../src/webhooks/actions/run-action.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const clock = new ManualClock();
const chainRefusalLog = new RateLimitedLog(clock, () => {});
const lines: string[] = [];
const log = createLogger({
  level: 'error', format: 'json', now: () => 0, write: (line) => lines.push(line),
});

function run(
  isBuiltIn: boolean, execute: (call: ActionCall) => unknown,
): ActionResult | Promise<ActionResult> {
  const action: RegisteredAction = {
    identifier: 'planted', label: '', isBuiltIn, options: {}, module: null,
    validateOptions: () => [],
    run: execute,
  };
  const call = { isChainRefused: false, log } as unknown as ActionCall;
  return runAction(action, call, { timeoutMs: 1000, clock, chainRefusalLog });
}

function throwError(error: Error): () => never {
  return () => {
    throw error;
  };
}

test('only a built-in action can say that the store takes nothing, at once or later', async () => {
  const full = new AppError('storage_full', 'planted');
  assert.throws(() => run(true, throwError(full)), full);
  await assert.rejects(async () => run(true, async () => throwError(full)()), full);
  const { success, message } = await run(false, throwError(full));
  assert.deepEqual({ success, message }, { success: false, message: 'Action failed' });
});

test('a refusal that no later run can end has failed the attempt, and is logged', async () => {
  lines.length = 0;
  const large = new AppError('too_large', 'planted');
  const { success, message } = await run(true, throwError(large));
  assert.deepEqual({ success, message }, { success: false, message: 'Action failed' });
  assert.match(lines.join(), /an action failed.*planted/);
});

test('a caller learns what is wrong with its input, and nothing else of an error', async () => {
  const { message } = await run(true, throwError(new AppError('invalid', 'name is required')));
  assert.equal(message, 'name is required');
  assert.equal((await run(true, throwError(new Error('planted')))).message, 'Action failed');
});

test('an action that limits its time itself is waited for', async () => {
  let end: (result: ActionResult) => void = () => {};
  const ending = new Promise<ActionResult>((resolve) => {
    end = resolve;
  });
  const action: RegisteredAction = {
    identifier: 'planted', label: '', isBuiltIn: true, module: null, options: {},
    validateOptions: () => [], limitsItsTime: true, run: () => ending,
  };
  const call = { isChainRefused: false, log } as unknown as ActionCall;
  const running = runAction(action, call, { timeoutMs: 1000, clock, chainRefusalLog });
  clock.advance(60_000);
  end(ActionResult.ok({ ended: true }));
  assert.deepEqual((await running).data, { ended: true });
});

test('a coalesced run stays one, given at once or later', async () => {
  assert.ok(run(true, () => new CoalescedResult()) instanceof CoalescedResult);
  const later = await run(true, async () => new CoalescedResult());
  assert.ok(later instanceof CoalescedResult);
  assert.deepEqual({ ...later },
    { success: true, message: 'Coalesced', data: { coalesced: true } });
});

test('an action that does not end in time has failed', async () => {
  const result = run(false, () => new Promise(() => {}));
  await clock.advance(1000);
  assert.deepEqual({ ...await result }, { success: false, message: 'Action timed out', data: {} });
});

test('a run whose chain was refused says so, however the run ends', async () => {
  lines.length = 0;
  const end = (finish: () => unknown) => run(false, async (call) => {
    call.isChainRefused = true;
    return finish();
  });
  const late = end(() => new Promise(() => {}));
  await clock.advance(1000);
  for (const [result, message] of [
    [await end(() => ({ success: true, message: 'done' })), 'done'],
    [await end(throwError(new Error('planted'))), 'Action failed'],
    [await late, 'Action timed out'],
  ] as const) {
    assert.ok(result instanceof ChainRefusal, message);
    assert.equal(result.message, message);
  }
  assert.deepEqual(lines, [], 'the hop that refused has logged it');
});
