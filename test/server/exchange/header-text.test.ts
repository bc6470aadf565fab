import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHeaders, parseHeaderText } from '../../../src/server/exchange/header-text.ts';

test('headers are a line each, and a list again', () => {
  const list = ['ETag', '"a: b"', 'X-A', '', 'Link', '</x>; rel="next"', 'X-B', 'caf\xe9'];
  const lines = formatHeaders(list);
  assert.equal(lines, 'ETag: "a: b"\r\nX-A: \r\nLink: </x>; rel="next"\r\nX-B: caf\xe9\r\n');
  assert.deepEqual(parseHeaderText(lines), list);
  assert.deepEqual(parseHeaderText(formatHeaders([])), []);
});

for (const [what, header] of [
  ['a line break in a value', ['X-A', 'b\r\nX-C: d']], ['a letter beyond Latin-1', ['X-A', '本']],
  ['a space in a name', ['X A', 'b']], ['no name', ['', 'b']],
] as const) {
  test(`no header that HTTP does not know goes out: ${what}`, () => {
    assert.throws(() => formatHeaders(['ETag', '"a"', ...header]), /AssertionError|assert/i);
  });
}
