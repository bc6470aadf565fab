import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeControls, escapeLines } from '../../../src/base/text/printable.ts';

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
