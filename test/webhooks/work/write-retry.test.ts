import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, type ErrorCode } from '../../../src/base/errors.ts';
import { retryUntilWritten } from '../../../src/webhooks/work/write-retry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createContext } from '../context.ts';

test('a write is repeated whatever the store says, and each new reason is logged', async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const context = createContext({ clock, writeLog: (line) => lines.push(line) });
  const reasons: ErrorCode[] = ['unavailable', 'unavailable', 'too_large', 'too_large'];
  const written = retryUntilWritten(
    context, new AbortController().signal, 'it waits', {}, async () => {
      const code = reasons.shift();
      if (code !== undefined) throw new AppError(code, `planted: ${code}`);
      return 'done';
    });
  await clock.advance(5000);
  assert.equal(await written, 'done');
  const logged = lines.map((line) => /planted: (\w+)/.exec(line)?.[1]);
  assert.deepEqual(logged, ['unavailable', 'too_large']);
});
