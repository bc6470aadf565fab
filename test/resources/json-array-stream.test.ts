import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeIdCursor, encodeIdCursor } from '../../src/resources/id-cursor.ts';
import { PIECE_BYTES, frameArray, streamRecords } from '../../src/resources/json-array-stream.ts';
import type { Pull } from '../../src/server/http-route.ts';

/** Everything that a stream gives, a text for each piece; bounded. */
async function piecesOf(pull: Pull): Promise<string[]> {
  const pieces: string[] = [];
  for (let count = 0; count < 1000; count += 1) {
    const some = await pull();
    if (some === null) return pieces;
    pieces.push(Buffer.concat(some).toString());
  }
  throw new Error('the stream does not end');
}

function streamOf(records: readonly string[], isSlow = false): Pull {
  const left = [...records];
  return streamRecords(() => {
    const record = left.shift();
    const bytes = record === undefined ? null : Buffer.from(record);
    return isSlow ? Promise.resolve(bytes) : bytes;
  });
}

for (const isSlow of [false, true]) {
  test(`records become one array, given ${isSlow ? 'later' : 'at once'}`, async () => {
    for (const records of [[], ['1'], ['1', '2', '3'], ['{"a":[1,2]}', '"]"']]) {
      const text = (await piecesOf(streamOf(records, isSlow))).join('');
      assert.equal(text, `[${records.join(',')}]`);
    }
  });
}

test('many records go out in pieces of bounded size', async () => {
  const record = JSON.stringify('x'.repeat(10_000));
  const records = Array.from({ length: 50 }, () => record);
  const pieces = await piecesOf(streamOf(records));
  assert.equal(pieces.join(''), `[${records.join(',')}]`);
  assert.ok(pieces.length > 5);
  assert.ok(pieces.every((piece) => piece.length < PIECE_BYTES + 2 * record.length));
});

test('a stream that has ended gives no more', async () => {
  const pull = streamOf(['1']);
  await piecesOf(pull);
  assert.equal(await pull(), null);
});

test('pieces are framed with the marks that are asked for', () => {
  const marks = { separator: Buffer.from(',\n'), end: Buffer.from(']\n') };
  const textOf = (some: readonly Buffer[] | null): string => Buffer.concat(some ?? []).toString();
  const frame = frameArray(marks);
  const parts = [frame([Buffer.from('1,\n2')]), frame([Buffer.from('3')]), frame(null)];
  assert.equal(parts.map(textOf).join(''), '[1,\n2,\n3]\n');
  assert.equal(frame(null), null);
  assert.equal(textOf(frameArray(marks)(null)), '[]\n');
});

test('a cursor leads back to the place that it was made of', () => {
  for (const id of ['a', '018f-x', 'A.b_c~-9', 'x'.repeat(128)]) {
    for (const [parameters, sortText] of [[[], ''], [[['q', 'a']], ''], [[['sort', 'b']], ' c ']] as
      const) {
      const place = { id, sortText };
      assert.deepEqual(decodeIdCursor(encodeIdCursor(place, parameters), parameters), place);
    }
  }
  assert.equal(decodeIdCursor(null, []), null);
});

test('a cursor belongs to the parameters that it was given with, in whatever order', () => {
  const cursor = encodeIdCursor({ id: 'a', sortText: '' }, [['q', 'a'], ['state', 'off']]);
  assert.equal(decodeIdCursor(cursor, [['state', 'off'], ['q', 'a']])?.id, 'a');
  for (const parameters of [[], [['q', 'a']], [['q', 'b'], ['state', 'off']]] as const) {
    assert.throws(() => decodeIdCursor(cursor, parameters), /`cursor` belongs to another query/);
  }
});

test('refuses a cursor that names no key', () => {
  const long = encodeIdCursor({ id: 'x'.repeat(129), sortText: '' }, []);
  for (const cursor of ['', '!', Buffer.from('a\nb').toString('base64url'), long]) {
    assert.throws(() => decodeIdCursor(cursor, []), { code: 'malformed' }, cursor);
  }
});
