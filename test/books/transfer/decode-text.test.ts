import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHARSETS, findCharset } from '../../../src/base/text/charset.ts';
import { FileDecoder } from '../../../src/books/transfer/decode-text.ts';
import { below, createRandom } from '../../support/random.ts';

const TEXT = 'Book Id,Title\n1,Émile – “Ça va” 😀 €\n';

test('each encoding that a file may have gives the same text, and is told', () => {
  const cases = [
    ['utf-8', Buffer.from(TEXT), TEXT],
    ['utf-8', Buffer.from(`\ufeff${TEXT}`), TEXT],
    ['utf-8', Buffer.from('plain'), 'plain'],
    ['utf-16le', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), TEXT],
    ['utf-16be', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16(), TEXT],
    ['windows-1252', Buffer.from('a\xc9mile \x96 \x93\xc7a va\x94 \x80\n', 'latin1'),
      'aÉmile – “Ça va” €\n'],
  ] as const;
  for (const [encoding, bytes, text] of cases) {
    assert.deepEqual(decode(bytes, bytes.length), { encoding, bytes: Buffer.from(text) });
  }
});

test('Windows-1252 has its own characters for 80 to 9F, and none for five of them', () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 0x80 + index));
  assert.equal(decode(bytes, 32).bytes.toString(),
    '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ');
});

test('after valid UTF-8 wrong bytes stay, for their record to be refused', () => {
  const bytes = Buffer.from('\xc3\xa9 \xe9 x', 'latin1');
  assert.deepEqual(decode(bytes, 2), { encoding: 'utf-8', bytes });
});

test('a lone surrogate and half a unit of UTF-16 become a byte that is never UTF-8', () => {
  const bytes = Buffer.concat([Buffer.from('\ufeffa\ud800b\udc00', 'utf16le'), Buffer.from('c')]);
  const expected = Buffer.from('a\xffb\xff\xff', 'latin1');
  for (let chunk = 1; chunk <= bytes.length; chunk += 1) {
    assert.deepEqual(decode(bytes, chunk), { encoding: 'utf-16le', bytes: expected });
  }
});

test('half a mark or half a character at the end is Windows-1252', () => {
  const cases = [
    ['\xef\xbb', 'ï»'], ['\xff', 'ÿ'], ['\xfe', 'þ'], ['caf\xe9', 'café'], ['\xf0\x9f\x98', 'ðŸ˜'],
  ] as const;
  for (const [latin1, text] of cases) {
    const bytes = Buffer.from(latin1, 'latin1');
    for (const chunk of [1, 2, 10]) {
      assert.deepEqual(decode(bytes, chunk),
        { encoding: 'windows-1252', bytes: Buffer.from(text) });
    }
  }
});

test('chunks that end anywhere give the same text', () => {
  const random = createRandom(3301);
  const pieces = ['a', '\n', 'é', '€', '😀', '\xe9', '\xff', '\xef\xbb\xbf', '\xff\xfe', '\ud83d'];
  for (let round = 0; round < 2000; round += 1) {
    const bytes = Buffer.concat(Array.from({ length: below(random, 12) }, () =>
      Buffer.from(pieces[below(random, pieces.length)] ?? '',
        below(random, 2) === 0 ? 'latin1' : 'utf8')));
    const whole = decode(bytes, bytes.length + 1);
    for (const chunk of [1, 2, 3, 5]) {
      assert.deepEqual(decode(bytes, chunk), whole, bytes.toString('hex'));
    }
  }
});

test('plain UTF-8 passes as it is, without a copy', () => {
  const converter = new FileDecoder();
  for (const text of ['ascii', 'é', 'more']) {
    const chunk = Buffer.from(text);
    assert.equal(converter.push(chunk), chunk);
  }
});

test('every charset that a message names is known, and its characters may be cut anywhere', () => {
  const bytes = Buffer.from('a\x93\xfa\x81\xd2b\x8f', 'latin1');
  for (const charset of CHARSETS) {
    assert.equal(findCharset(charset.toUpperCase()), charset);
    const whole = decode(bytes, bytes.length, charset);
    assert.equal(whole.encoding, charset);
    for (const chunk of [1, 2, 3]) assert.deepEqual(decode(bytes, chunk, charset), whole, charset);
  }
  for (const [name, charset] of [['MacRoman', 'macintosh'], ['ISO8859_15', 'iso-8859-15'],
    ['KOI8_R', 'koi8-r'], ['UTF8', 'utf-8'], ['latin1', 'windows-1252'], ['Cp850', null]]) {
    assert.equal(findCharset(name ?? ''), charset);
  }
  const declared = decode(Buffer.from('a\x93\xfab\x93', 'latin1'), 2, 'shift_jis').bytes;
  assert.deepEqual(declared, Buffer.concat([Buffer.from('a日b'), Buffer.from([0xff])]));
});

function decode(file: Buffer, chunkBytes: number, declared?: string) {
  const converter = new FileDecoder(declared);
  const parts: Buffer[] = [];
  for (let start = 0; start < file.length; start += chunkBytes) {
    parts.push(Buffer.from(converter.push(Buffer.from(file.subarray(start, start + chunkBytes)))));
  }
  parts.push(converter.end());
  return { encoding: converter.encoding, bytes: Buffer.concat(parts) };
}
