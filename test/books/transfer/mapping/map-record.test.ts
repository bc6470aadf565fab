import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { loadCodec } from '../../../../src/books/transfer/formats.ts';
import { listTrimmedTexts, readWords } from '../../../../src/books/transfer/mapping/field-text.ts';
import { whole } from '../../../../src/books/transfer/mapping/format-table.ts';
import type { FormatTable, RowValue } from '../../../../src/books/transfer/mapping/format-table.ts';
import { mapRecord } from '../../../../src/books/transfer/mapping/map-record.ts';
import { createRowMaker } from '../../../../src/books/transfer/mapping/member-rows.ts';
import { readText } from '../../../support/format-round-trip.ts';

const LONG = 'x'.repeat(1001);

test('a record without a title names the fields in which its source has it', async () => {
  for (const [format, file, expected] of [
    ['goodreads', 'Book Id,Title,Author\n3,,\n', '2 3 no text in `Title`'],
    ['storygraph', 'Title,Authors,ISBN/UID\n" ",,x\n', '2 x no text in `Title`'],
    ['librarything', 'Book Id\tTitle\tPrimary Author\n1\t\n', '2 1 no text in `Title` or `title`'],
    ['calibre', 'title,uuid\n,u\n', '2 u no text in `title`'],
    ['bibtex', '@book{k, year = 1}', '1 k no text in `title`, `booktitle` or `maintitle`'],
    ['ris', 'TY  - BOOK\nID  - 7\nER  - \n', '1 7 no text in `TI`, `T1`, `CT` or `BT`'],
    ['csl', '[{"id":"x","type":"book","title":{}}]', '1 x no text in `title`'],
    ['jsonld', '{"@context":"https://schema.org","@type":"Book","@id":"urn:1"}',
      '1 urn:1 no text in `name` or `headline`'],
  ] as const) {
    assert.equal((await explain(format, file)).replace('the record has ', ''), expected);
  }
});

test('a title that is too long for the catalog is told as that, not as a missing one', async () => {
  for (const [format, file, name] of [
    ['goodreads', `Book Id,Title,Author\n3,${LONG},\n`, 'Title'],
    ['bibtex', `@book{k, booktitle = {${LONG}}}`, 'booktitle'],
    ['ris', `TY  - BOOK\nT1  - ${LONG}\nER  - `, 'T1'],
    ['csl', `[{"id":"x","type":"book","title":"${LONG}"}]`, 'title'],
  ] as const) {
    assert.match(await explain(format, file),
      new RegExp(`that in \`${name}\` must be at most 1000 characters$`));
  }
});

const { textRows, listRow } = createRowMaker(listTrimmedTexts);
const readNumber = (text: string): RowValue => whole(Number(text));

const readingTable: FormatTable = {
  name: 'made-up', ownIdFields: ['id'],
  rows: [
    textRows('title', 'title'),
    textRows('reading.rating', ['stars', 'points'], readNumber),
    textRows('reading.readCount', 'count', (text) => text === '0' ? whole(null) : readNumber(text)),
    textRows('reading.startedOn', 'start'),
    textRows('reading.finishedOn', ['end', 'seen']),
    listRow('reading.shelves', ['shelves'], readWords),
  ].flat(),
};

function mapReading(fields: Readonly<Record<string, JsonValue>>): JsonObject {
  const { title, ...body } = mapRecord(readingTable,
    { line: 1, key: null, type: '', fields: new Map(Object.entries(fields)) }).body;
  return body;
}

function keep(fields: JsonObject): JsonObject {
  return { metadata: { source: { 'made-up': fields } } };
}

test('members of a reading have rows of their own, and those that are refused stay', () => {
  const title = { title: 'A' };
  const cases: readonly (readonly [fields: Readonly<Record<string, JsonValue>>, JsonObject])[] = [
    [{ stars: '4.5', start: '2024', end: '2024-02' },
      { reading: { rating: 4.5, startedOn: '2024', finishedOn: '2024-02' } }],
    // The first row whose value the model takes counts.
    [{ stars: '4.3', points: '3', count: '2' },
      { reading: { rating: 3, readCount: 2 }, ...keep({ stars: '4.3' }) }],
    [{ stars: '4.3', count: '2' }, { reading: { readCount: 2 }, ...keep({ stars: '4.3' }) }],
    [{ stars: '9' }, keep({ stars: '9' })],
    // Those who were not told write 0: there is nothing to keep.
    [{ count: '0' }, {}],
    [{ count: '0', stars: '5' }, { reading: { rating: 5 } }],
    // An end before the start is refused, and another end may be right.
    [{ start: '2024-05', end: '2024-04-30', stars: '1' },
      { reading: { rating: 1, startedOn: '2024-05' }, ...keep({ end: '2024-04-30' }) }],
    [{ start: '2024-05', end: '2023', seen: '2024' },
      { reading: { startedOn: '2024-05', finishedOn: '2024' }, ...keep({ end: '2023' }) }],
  ];
  for (const [fields, expected] of cases) {
    assert.deepEqual(mapReading({ ...title, ...fields }), expected);
  }
});

test('of a list in a reading the items go that the model refuses', () => {
  const shelves = ['Sci-Fi', 'x'.repeat(201), 'sci-fi', 'Comics'];
  assert.deepEqual(mapReading({ title: 'A', shelves }),
    { reading: { shelves: ['Sci-Fi', 'Comics'] }, ...keep({ shelves }) });
  const many = Array.from({ length: 101 }, (_, index) => `s${index}`);
  const { reading } = mapReading({ title: 'A', shelves: many });
  assert.deepEqual(reading, { shelves: many.slice(0, 100) });
});

/** Line and key of the only record, and why it has no title. */
async function explain(format: Parameters<typeof loadCodec>[0], file: string): Promise<string> {
  const [record, ...others] = readText(await loadCodec(format), file);
  assert.ok(record !== undefined && 'body' in record && others.length === 0);
  return `${record.line} ${record.key} ${record.titleProblem?.replace('is required: ', '')}`;
}
