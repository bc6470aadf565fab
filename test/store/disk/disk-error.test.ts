import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskError } from '../../../src/store/disk/disk-error.ts';

test('a disk, quota or file that is full can be told from other refusals', () => {
  const codes = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'].map((code) =>
    diskError('nothing is written', Object.assign(new Error('no'), { code })).code);
  assert.deepEqual(codes,
    ['storage_full', 'storage_full', 'storage_full', 'unavailable', 'unavailable']);
});
