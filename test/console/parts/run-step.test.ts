/** How the run of an action is told on the time line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runStep } from '../../../src/console/parts/run-step.ts';

const RUN = { at: '2026-11-27T04:00:00.000Z', durationMs: 1500, success: true, message: null };
const COMMAND = { exitCode: 0, signal: null, durationMs: 1200 };

for (const [name, data, expected] of [
  ['an action that returned nothing', {}, { text: 'done', detail: null }],
  ['an action that returned something', { a: 1 }, { text: 'done', detail: '{\n  "a": 1\n}' }],
  ['data that were too large to keep', null, { text: 'done', detail: null }],
  ['a request that was coalesced', { coalesced: true },
    { text: 'coalesced: a newer request ran for it', detail: null }],
  ['a command without output', COMMAND, {
    text: 'done', note: 'exit code 0, ran for 1.2 s', summary: 'Output', detail: null,
  }],
  ['a command with output', { ...COMMAND, output: 'a\nb\n' }, {
    text: 'done', note: 'exit code 0, ran for 1.2 s', summary: 'Output', detail: 'a\nb\n',
  }],
  ['a command whose output is JSON', { ...COMMAND, output: { n: 1 }, truncated: false }, {
    text: 'done', note: 'exit code 0, ran for 1.2 s', summary: 'Output', detail: '{\n  "n": 1\n}',
  }],
  ['a command with too much output', { ...COMMAND, output: 'a', truncated: true }, {
    text: 'done', note: 'exit code 0, ran for 1.2 s', summary: 'Output, cut off', detail: 'a',
  }],
] as const) {
  test(`tells of ${name}`, () => {
    const { at, durationMs, isGood, ...told } = runStep({ ...RUN, data });
    assert.deepEqual([at, durationMs, isGood, told], [RUN.at, RUN.durationMs, true, expected]);
  });
}

test('tells of a command that a signal has ended', () => {
  const message = 'The command failed (SIGTERM)';
  const data = { exitCode: null, signal: 'SIGTERM', durationMs: 40 };
  const { isGood, text, note } = runStep({ ...RUN, success: false, message, data });
  assert.deepEqual([isGood, text, note], [false, message, 'ended by SIGTERM, ran for 40 ms']);
});
