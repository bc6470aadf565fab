/** What is told of a run of an action. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRun } from '../../../src/console/parts/run-description.ts';

const NOTHING = { text: 'done', end: null, ranMs: null, output: null, isCutOff: false };
const COMMAND = { exitCode: 0, signal: null, durationMs: 1200 };
const ENDED = { ...NOTHING, end: 'exit code 0', ranMs: 1200 };

for (const [name, data, expected] of [
  ['an action that returned nothing', {}, NOTHING],
  ['an action that returned something', { a: 1 }, { ...NOTHING, output: '{\n  "a": 1\n}' }],
  ['data that were too large to keep', null, NOTHING],
  ['a request that was coalesced', { coalesced: true },
    { ...NOTHING, text: 'coalesced: a newer request ran for it' }],
  ['a command that shows no output', COMMAND, ENDED],
  ['a command without output', { ...COMMAND, output: '' }, ENDED],
  ['a command with output', { ...COMMAND, output: 'a\nb\n' }, { ...ENDED, output: 'a\nb\n' }],
  ['a command whose output is JSON', { ...COMMAND, output: [1], truncated: false },
    { ...ENDED, output: '[\n  1\n]' }],
  ['a command with too much output', { ...COMMAND, output: 'a', truncated: true },
    { ...ENDED, output: 'a', isCutOff: true }],
] as const) {
  test(`tells of ${name}`, () =>
    assert.deepEqual(describeRun({ success: true, message: null, data }), expected));
}

test('tells of a command that a signal has ended', () => {
  const message = 'The command failed (SIGTERM)';
  const data = { exitCode: null, signal: 'SIGTERM', durationMs: 40 };
  assert.deepEqual(describeRun({ success: false, message, data }),
    { ...NOTHING, text: message, end: 'ended by SIGTERM', ranMs: 40 });
});
