import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listNamesOnce, quote, suggestName } from '../../../src/base/text/error-message.ts';
import { escapeControls, escapeLines } from '../../../src/base/text/printable.ts';

test('a refused value is quoted, cut when it is long, and without credentials', () => {
  const cases: readonly [unknown, string][] = [
    ['post', '"post"'], [12, '12'], [null, 'null'], [true, 'true'], [['a'], 'an array'],
    [{ a: 1 }, 'an object'], ['a"b\n', '"a\\"b\\n"'], ['x'.repeat(81), `"${'x'.repeat(80)}…"`],
    ['ftp://u:planted@h/', '"ftp://***@h/"'], ['http://u:"planted@h/@x', '"http://***@x"'],
    ['http://h/?token=planted', '"http://h/?token=***"'],
  ];
  for (const [value, shown] of cases) assert.equal(quote(value), shown);
});

test('a refused name gets the one that was meant, else those that there are', () => {
  assert.equal(suggestName('lvel', ['level', 'mode']), ': did you mean `level`?');
  assert.equal(suggestName('zzz', ['level', 'mode']), ': known are level, mode');
  assert.equal(suggestName('zzz', ['level']), ': known is level');
  assert.equal(suggestName('zzz', []), ': none is known');
  const many = Array.from({ length: 25 }, (_, index) => `n${index}`);
  assert.match(suggestName('x'.repeat(1000), many), /n19 and 5 more$/);
});

test('control characters become visible', () => {
  assert.equal(escapeControls('a\tb\u202ec\u009b'), 'a\\u0009b\\u202ec\\u009b');
  assert.equal(escapeLines('a\tb\nc\r'), 'a\\u0009b\nc\\u000d');
});

/** Bidirectional marks and overrides, zero-width and other invisible characters, and tags. */
const HIDDEN: readonly string[] = [
  '\u0000', '\u001b', '\u007f', '\u0085', '\u00ad', '\u061c', '\u180e', '\u200b', '\u200e',
  '\u200f', '\u2028', '\u2029', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2060',
  '\u2061', '\u2064', '\u2066', '\u2069', '\u206f', '\ufeff', '\ufff9', '\u{e0001}', '\u{e0041}',
  '\u200c', '\u200d',
];
for (const character of HIDDEN) {
  const name = character.codePointAt(0)?.toString(16).padStart(4, '0');
  test(`U+${name} is escaped, and JSON reads it back`, () => {
    const text = `pay${character}pal`;
    const shown = escapeControls(text);
    assert.match(shown, /^[\x20-\x7e]+$/);
    assert.equal(JSON.parse(`"${shown}"`), text);
  });
}

/** Persian and Hindi with joiners, emoji joined and with a variant, an Arabic number sign. */
const DRAWN: readonly string[] = [
  'Emma', 'ünï ☃', '紅樓夢', 'می\u200cخواهم', 'क्\u200dष', '👩\u200d🔬', '❤\ufe0f\u200d🔥', '\u0600١٢',
];
for (const text of DRAWN) {
  test(`${text} is shown as it is written`, () => assert.equal(escapeControls(text), text));
}

test('of several messages the first alone lists the same known names', () => {
  const [some, others] = [['level', 'mode'], ['a', 'b']];
  assert.deepEqual(listNamesOnce([
    `x is none${suggestName('x', some)}`, `y is none${suggestName('yyyyy', others)}`,
    `z is none${suggestName('z', some)}`, 'lvel is none: did you mean `level`?',
  ]), [
    'x is none: known are level, mode', 'y is none: known are a, b', 'z is none',
    'lvel is none: did you mean `level`?',
  ]);
});
