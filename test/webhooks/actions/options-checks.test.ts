import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { JsonObject } from '../../../src/base/schema.ts';
import type { RegisteredAction } from '../../../src/webhooks/actions/action-registry.ts';
import { OptionsChecks } from '../../../src/webhooks/actions/options-checks.ts';

function createChecks(
  validateOptions: RegisteredAction['validateOptions'],
): { readonly checks: OptionsChecks; readonly checkedOptions: JsonObject[] } {
  const checkedOptions: JsonObject[] = [];
  const action: RegisteredAction = {
    identifier: 'planted', label: '', isBuiltIn: false, options: {},
    module: { fileName: 'planted.mjs', switchedOffUntilMs: null, onLate: () => {} },
    validateOptions(options) {
      checkedOptions.push(options);
      return validateOptions(options);
    },
    run: () => null,
  };
  const actions = { find: () => action, list: () => [action] };
  return { checks: new OptionsChecks(actions), checkedOptions };
}

function configure(word: string): { readonly actionType: string; readonly options: JsonObject } {
  return { actionType: 'planted', options: { word } };
}

test('a transaction finds the verdict that was awaited before it', async () => {
  const { checks, checkedOptions } = createChecks(async ({ word }) => [`${String(word)} is bad`]);
  const write = async (): Promise<readonly string[]> => checks.findProblems(configure('a'));
  assert.deepEqual(await checks.checkAhead([configure('a')], write), ['a is bad']);
  assert.deepEqual(checkedOptions, [{ word: 'a' }]);
});

test('a transaction that finds other options runs again once those are checked', async () => {
  const { checks, checkedOptions } = createChecks(async ({ word }) => [`${String(word)} is bad`]);
  let runs = 0;
  const problems = await checks.checkAhead([], async () => {
    runs += 1;
    return checks.findProblems(configure(`word ${runs}`)).concat(
      checks.findProblems(configure('same')));
  }).catch((thrown: unknown) => thrown);
  // Its first options are others each time.
  assert.ok(problems instanceof AppError && problems.code === 'conflict', String(problems));
  const sameProblems = await checks.checkAhead([],
    async () => checks.findProblems(configure('same')));
  assert.deepEqual(sameProblems, ['same is bad']);
  assert.deepEqual(checkedOptions.at(-1), { word: 'same' });
});

test('a verdict is not used for a later write', async () => {
  let problems: readonly string[] = [];
  const { checks } = createChecks(async () => problems);
  const write = async (): Promise<readonly string[]> => checks.findProblems(configure('a'));
  assert.deepEqual(await checks.checkAhead([], write), []);
  problems = ['changed its mind'];
  assert.deepEqual(await checks.checkAhead([], write), ['changed its mind']);
});

test('a write fails as it does without a check, and as the check does', async () => {
  const { checks } = createChecks(() => Promise.reject(new AppError('unavailable', 'off')));
  await assert.rejects(checks.checkAhead([], () => Promise.reject(new Error('full'))), /full/);
  await assert.rejects(
    checks.checkAhead([], async () => checks.findProblems(configure('a'))), /off/);
});
