import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLockedOut, parseAccessState } from '../../src/access/access-state.ts';

test('the state of access is read from what a server says, and from nothing else', () => {
  for (const [body, isClosed, hasUsableToken] of [
    [{ isClosed: true, hasUsableToken: true }, true, true],
    [{ isClosed: true, hasUsableToken: false }, true, false],
    [{ isClosed: 'true', hasUsableToken: 1 }, false, false], [null, false, false],
    ['', false, false],
  ] as const) {
    const state = parseAccessState(body);
    assert.deepEqual(state, { isClosed, hasUsableToken });
    assert.equal(isLockedOut(state), isClosed && !hasUsableToken);
  }
});
