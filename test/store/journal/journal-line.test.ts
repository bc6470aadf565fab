import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { JournalLineEncoder } from '../../../src/store/journal/journal-line-encoder.ts';
import { decodeTransaction, parseLine } from '../../../src/store/journal/journal-line.ts';
import type { Operation } from '../../../src/store/store-port.ts';

function encode(add: (encoder: JournalLineEncoder) => void): Buffer {
  const encoder = new JournalLineEncoder();
  add(encoder);
  return Buffer.from(encoder.bytes);
}

function seal(rest: string): Buffer {
  const crc = crc32(rest).toString(16).padStart(8, '0');
  return Buffer.from(`{"crc":"${crc}${rest}`);
}

const transaction = encode((encoder) => encoder.addTransaction(7, 5, [
  { collection: 'books', id: 'a', bytes: Buffer.from('{"id":"a","title":"é"}') },
  { collection: 'tokens', id: 'b', bytes: null },
]));

test('a transaction is a line of plain JSON whose checksum covers the rest of it', () => {
  const text = transaction.toString();
  assert.ok(text.endsWith('\n'));
  const { crc, ...line } = JSON.parse(text);
  assert.equal(crc, crc32(text.slice(16, -1)).toString(16).padStart(8, '0'));
  assert.deepEqual(line, { seq: 7, durable: 5, ops: [
    { put: 'books', bytes: 23, record: { id: 'a', title: 'é' } },
    { delete: 'tokens', key: 'b' },
  ] });
});

test('operations come back in order, records as the bytes they were', () => {
  const end = transaction.length - 1;
  const line = parseLine(transaction, 0, end);
  assert.deepEqual([line?.kind, line?.sequence, line?.durable], ['ops', 7, 5]);
  assert.ok(line !== null);
  const { operations } = decodeTransaction(transaction, line, end, new Map());
  assert.deepEqual(
    operations.map(({ collection, id, bytes }) => `${collection} ${bytes?.toString() ?? `-${id}`}`),
    ['books {"id":"a","title":"é"}', 'tokens -b']);
});

/** A record of `parents` implies one of `books` that has its id. */
const collections = new Map([
  ['books', { spec: { name: 'books', key: 'id' as const } }],
  ['parents', { spec: {
    name: 'parents', key: 'id' as const,
    imply: (bytes: Buffer) => [{ collection: 'books', id: JSON.parse(String(bytes)).id, bytes }],
  } }],
]);
const [a, b] = [Buffer.from('{"id":"a"}'), Buffer.from('{"id":"b"}')];

function roundTrip(operations: readonly Operation[], known = collections): readonly Operation[] {
  const written = encode((encoder) => encoder.addTransaction(7, 5, operations));
  const line = parseLine(written, 0, written.length - 1);
  assert.ok(line !== null);
  return decodeTransaction(written, line, written.length - 1, known).operations;
}

const IMPLYING: readonly Operation[] = [
  { collection: 'parents', id: 'a', bytes: a },
  { collection: 'books', id: 'a', bytes: a, isImplied: true },
  { collection: 'parents', id: 'b', bytes: b },
  { collection: 'books', id: 'a', bytes: null },
];

test('what a put implies is not written, and comes back directly after it', () => {
  const line = JSON.parse(String(
    encode((encoder) => encoder.addTransaction(7, 5, IMPLYING))));
  assert.deepEqual(line.ops, [
    { put: 'parents', bytes: 10, implies: true, record: { id: 'a' } },
    { put: 'parents', bytes: 10, record: { id: 'b' } },
    { delete: 'books', key: 'a' },
  ]);
  assert.deepEqual(roundTrip(IMPLYING), IMPLYING);
  assert.deepEqual(roundTrip(roundTrip(IMPLYING)), IMPLYING);
});

test('who does not know a collection skips what its records imply', () => {
  const known = new Map([...collections].filter(([name]) => name === 'books'));
  assert.deepEqual(roundTrip(IMPLYING, known), IMPLYING.filter(({ isImplied }) => !isImplied));
});

const NOTES = [
  { kind: 'mark', line: encode((encoder) => encoder.addNote(3, { mark: true })) },
  { kind: 'start', line: encode((encoder) => encoder.addStart(3, 42)), generation: 42 },
  { kind: 'next', line: encode((encoder) => encoder.addNote(3, { next: 43 })), generation: 43 },
  { kind: 'snapshots',
    line: encode((encoder) => encoder.addNote(3, { snapshots: ['books', 'hooks'] })),
    collections: ['books', 'hooks'] },
] as const;

for (const { kind, line, ...members } of NOTES) {
  test(`a ${kind} line comes back as it was written`, () => {
    assert.deepEqual(parseLine(line, 0, line.length - 1), {
      kind, sequence: 3, durable: 3, operationsAt: 0, generation: 0, collections: [],
      ...members,
    });
  });
}

test('a line with any byte changed is not valid', () => {
  for (const good of [transaction, ...NOTES.map(({ line }) => line)]) {
    for (let offset = 0; offset < good.length - 1; offset += 1) {
      const bad = Buffer.from(good);
      bad[offset] = (bad[offset] ?? 0) ^ 1;
      assert.equal(parseLine(bad, 0, bad.length - 1), null);
    }
  }
});

const FOREIGN = [
  '","seq":1,"durable":1,"mark":true} ', '","seq":1,"durable":1,"mark":true,"more":1}',
  '", "seq":1,"durable":1,"mark":true}', '","seq":1,"durable":0,"mark":true}',
  '","seq":-1,"durable":-1,"mark":true}', '","seq":1,"durable":1,"snapshots":[]}',
  '","seq":99999999999999999999,"durable":0,"ops":[]}',
];

for (const rest of FOREIGN) {
  test(`a line of another form is not valid, though its checksum is right: ${rest}`, () => {
    const line = seal(rest);
    assert.equal(parseLine(line, 0, line.length), null);
  });
}

test('operations of another form are an error, never a wrong record', () => {
  const line = parseLine(transaction, 0, transaction.length - 1);
  assert.ok(line !== null);
  for (const operations of [
    '', '{"put":"books","bytes":5,"record":{"id":"a"}}]}', '{"put":"books","bytes":9,"record":{"i',
    '{"delete":"books"}]}', '{"delete":"books","key":"a"}] }', '{"delete":"books","key":"a"},]}',
    '{"delete":"","key":"a"}]}',
    '{"put":"books","bytes":10,"implies":false,"record":{"id":"a"}}]}',
    '{"put":"books","bytes":10,"implies":true,"record":{"id":"a"}}]}',
  ]) {
    const buffer = Buffer.from(operations);
    assert.throws(() => decodeTransaction(
      buffer, { ...line, operationsAt: 0 }, buffer.length, collections));
  }
});

test('lines of one write are encoded one after the other, however large', () => {
  const bytes = Buffer.from(JSON.stringify({ id: 'a', text: 'x'.repeat(200_000) }));
  const lines = encode((encoder) => {
    encoder.addNote(1, { mark: true });
    encoder.clear();
    for (const sequence of [1, 2, 3]) {
      encoder.addTransaction(sequence, 0, [{ collection: 'books', id: 'a', bytes }]);
    }
  }).toString().trimEnd().split('\n');
  assert.deepEqual(lines.map((line) => JSON.parse(line).seq), [1, 2, 3]);
  for (const line of lines) {
    const buffer = Buffer.from(line);
    assert.ok(parseLine(buffer, 0, buffer.length));
  }
});
