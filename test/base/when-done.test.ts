import assert from 'node:assert/strict';
import test from 'node:test';
import { isPromised, whenDone } from '../../src/base/when-done.ts';

test('a result that is there is handed on at once, without a promise', () => {
  assert.equal(whenDone(2, (value) => value + 1), 3);
});

test('a promised result is handed on when it comes', async () => {
  const result = whenDone(Promise.resolve(2), (value) => value + 1);
  assert.equal(isPromised(result), true);
  assert.equal(await result, 3);
});

test('a broken promise is told to the error handler, and to the caller without one', async () => {
  const broken = (): Promise<number> => Promise.reject(new Error('broken'));
  assert.equal(await whenDone(broken(), () => 'unused', (reason) => String(reason)),
    'Error: broken');
  await assert.rejects(async () => whenDone(broken(), () => 'unused'), /broken/);
});

test('an error of the next step is the caller\'s alone, now or later', async () => {
  const next = (): never => {
    throw new Error('next');
  };
  const onError = (): string => 'handled';
  assert.throws(() => whenDone(1, next, onError), /next/);
  await assert.rejects(async () => whenDone(Promise.resolve(1), next, onError), /next/);
});

test('an object with a then of its own is a result, not a promise', () => {
  assert.equal(isPromised({ then: () => 1 }), false);
});
