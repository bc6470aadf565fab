/** Bytes put together in memory that is used again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { below, createRandom } from '../../support/random.ts';
import { ByteWriter } from '../../../src/base/structures/byte-writer.ts';

const EVERY_CONTROL = String.fromCharCode(...Array.from({ length: 0x80 }, (_, code) => code));
const TEXTS = [
  '', 'plain', 'a "quoted" \\ word', EVERY_CONTROL, 'ß\u2028\u2029\ufeff\u{1f600}', '{"a":"b\\n"}',
  'x'.repeat(40_000),
];

test('writes a text as the JSON string that JSON.stringify makes of it', () => {
  const writer = new ByteWriter();
  for (const text of TEXTS) {
    writer.clear();
    writer.addText('"a":');
    const json = JSON.stringify(text);
    assert.equal(writer.addJsonString(Buffer.from(text), Buffer.byteLength(json)), true);
    writer.addText('}');
    assert.equal(writer.bytes.toString(), `"a":${json}}`);
  }
});

test('writes texts of any length and what is to be escaped at any place as JSON.stringify', () => {
  const writer = new ByteWriter();
  const random = createRandom(1);
  const pieces = [
    'a', 'b', '"', '\\', '\n', '\u0001', '\u007f', '\u0080', 'ü', '\u{1f600}', 'xyz', ' !#',
  ];
  for (let round = 0; round < 3000; round += 1) {
    const length = round % 100 === 0 ? 5000 : below(random, 40);
    const text = Array.from({ length }, () => pieces[below(random, pieces.length)] ?? '').join('');
    const json = JSON.stringify(text);
    writer.clear();
    writer.addText('x'.repeat(below(random, 5)));
    const { length: before } = writer;
    assert.ok(writer.addJsonString(Buffer.from(text), Buffer.byteLength(json)));
    assert.equal(writer.bytes.toString('utf8', before), json);
  }
});

test('adds nothing of a JSON string that would take too much', () => {
  const writer = new ByteWriter();
  for (const text of TEXTS) {
    writer.clear();
    writer.addText('before');
    const bytesMax = Buffer.byteLength(JSON.stringify(text)) - 1;
    assert.equal(writer.addJsonString(Buffer.from(text), bytesMax), false);
    assert.equal(writer.bytes.toString(), 'before');
  }
});

test('holds what was added, in order, however large', () => {
  const writer = new ByteWriter();
  writer.addText('ß');
  writer.addBytes(Buffer.from('0123456789'), 2, 5);
  writer.addBytes(Buffer.alloc(3_000_000, 'x'));
  assert.equal(writer.length, 3_000_005);
  assert.equal(writer.bytes.toString('utf8', 0, 6), 'ß234x');
  writer.cut(2);
  assert.equal(writer.bytes.toString(), 'ß');
  writer.clear();
  writer.addText('again');
  assert.equal(writer.bytes.toString(), 'again');
});
