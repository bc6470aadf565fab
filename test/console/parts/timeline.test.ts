/** What is told of a run of an action. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../support/compile.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const { runStep }: { runStep(attempt: object): object } = await import(
  compile('src/console/parts/timeline.ts', createTemporaryFolder()));

const AT = { at: '2026-01-02T03:04:05.678Z', durationMs: 1300 };
const NOTHING = { ...AT, isGood: true, text: 'done', detail: null };
const COMMAND = { exitCode: 0, signal: null, durationMs: 1200 };
const ENDED = { ...NOTHING, note: 'exit code 0, ran for 1.2 s', summary: 'Output' };

for (const [name, data, expected] of [
  ['an action that returned nothing', {}, NOTHING],
  ['an action that returned something', { a: 1 }, { ...NOTHING, detail: '{\n  "a": 1\n}' }],
  ['data that were too large to keep', null, NOTHING],
  ['a request that was coalesced', { coalesced: true },
    { ...NOTHING, text: 'coalesced: a newer request ran for it' }],
  ['a command that shows no output', COMMAND, ENDED],
  ['a command without output', { ...COMMAND, output: '' }, ENDED],
  ['a command with output', { ...COMMAND, output: 'a\nb\n' }, { ...ENDED, detail: 'a\nb\n' }],
  ['a command whose output is JSON', { ...COMMAND, output: [1], truncated: false },
    { ...ENDED, detail: '[\n  1\n]' }],
  ['a command with too much output', { ...COMMAND, output: 'a', truncated: true },
    { ...ENDED, detail: 'a', summary: 'Output, cut off' }],
] as const) {
  test(`tells of ${name}`, () =>
    assert.deepEqual(runStep({ ...AT, success: true, message: null, data }), expected));
}

test('tells of a command that a signal has ended', () => {
  const message = 'The command failed (SIGTERM)';
  const data = { exitCode: null, signal: 'SIGTERM', durationMs: 40 };
  assert.deepEqual(runStep({ ...AT, success: false, message, data }), {
    ...ENDED, isGood: false, text: message, note: 'ended by SIGTERM, ran for 40 ms',
  });
});

const FORWARD = { statusCode: 503, method: 'POST', url: 'http://db/x' };
for (const [name, data, detail] of [
  ['its answer as text', { ...FORWARD, response: 'database is down' }, 'database is down'],
  ['its answer as JSON', { ...FORWARD, response: '{"a":1}' }, '{\n  "a": 1\n}'],
  ['no answer', { ...FORWARD, statusCode: null }, null],
] as const) {
  test(`tells where a forward went that failed, with ${name}`, () => {
    const message = 'The upstream answered 503';
    assert.deepEqual(runStep({ ...AT, success: false, message, data }), {
      ...NOTHING, isGood: false, text: message, note: 'POST http://db/x', detail,
    });
  });
}
