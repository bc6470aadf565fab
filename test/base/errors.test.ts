import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, isAccessRefused, messageOf, systemCodeOf } from '../../src/base/errors.ts';

test('tells missing permissions from other failures of the system', () => {
  for (const code of ['EACCES', 'EPERM', 'EROFS']) assert.ok(isAccessRefused({ code }), code);
  for (const thrown of [{ code: 'ENOENT' }, { code: 13 }, {}, null, undefined, 'EACCES']) {
    assert.equal(isAccessRefused(thrown), false, String(thrown));
  }
});

test('anything that is thrown has a text, and only a system error a code', () => {
  assert.deepEqual([new AppError('invalid', 'bad'), 'text', 7, null, undefined].map(messageOf),
    ['bad', 'text', '7', 'null', 'undefined']);
  assert.equal(systemCodeOf(Object.assign(new Error(), { code: 'ENOSPC' })), 'ENOSPC');
  assert.deepEqual([new Error(), { code: 5 }, null, 'x'].map(systemCodeOf),
    [undefined, undefined, undefined, undefined]);
});
