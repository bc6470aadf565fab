import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printableJson } from '../../src/cli/output.ts';

test('JSON for a terminal holds no control or direction character, and says the same', () => {
  const value = { text: 'a\u001b[31m\u007f\u0085\u009b\u202eb\u2066', 'na\u009bme': ['ünï ☃'] };
  const text = printableJson(value);
  assert.match(text, /^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+$/);
  assert.deepEqual(JSON.parse(text), value);
  assert.deepEqual(JSON.parse(printableJson(value, 2)), value);
});
