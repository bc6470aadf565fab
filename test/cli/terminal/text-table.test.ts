import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { Progress } from '../../../src/cli/terminal/progress.ts';
import { Table } from '../../../src/cli/terminal/text-table.ts';
import type { Column } from '../../../src/cli/terminal/text-table.ts';
import { cutToWidth, padToWidth, textWidth } from '../../../src/cli/terminal/text-width.ts';

const WIDTHS: readonly (readonly [string, number])[] = [
  ['', 0], ['Emma', 4], ['café', 4], ['cafe\u0301', 4], ['紅樓夢', 6], ['한글', 4], ['ひらがな', 8],
  ['ｱ', 1], ['Ａ', 2], ['Война', 5], ['אבג', 3], ['📚', 2], ['a\u200bb', 2], ['𠀀', 2],
];
for (const [text, width] of WIDTHS) {
  test(`${JSON.stringify(text)} takes ${width} columns`, () => assert.equal(textWidth(text),
    width));
}

const CUTS: readonly (readonly [string, number, string])[] = [
  ['Emma', 4, 'Emma'], ['Persuasion', 5, 'Pers…'], ['紅樓夢', 5, '紅樓…'], ['紅樓夢', 4, '紅…'],
  ['cafe\u0301s', 4, 'caf…'], ['ab cd', 4, 'ab…'], ['ab', 0, ''],
];
for (const [text, width, expected] of CUTS) {
  test(`${text} in ${width} columns is ${expected}`, () => {
    assert.equal(cutToWidth(text, width), expected);
    assert.ok(textWidth(cutToWidth(text, width)) <= width);
  });
}

test('padding counts columns, not characters', () => {
  assert.equal(padToWidth('紅', 4), '紅  ');
  assert.equal(padToWidth('abcde', 4), 'abcde');
});

type Row = { readonly id: string; readonly title: string };
const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id, fit: 'whole' },
  { title: 'TITLE', value: ({ title }) => title },
];

test('a table elsewhere than on a terminal cuts nothing', () => {
  const title = 'x'.repeat(300);
  assert.deepEqual(new Table(COLUMNS, null).formatRows([{ id: '1', title },
    { id: '22', title: 'a' }]),
    ['ID  TITLE', `1   ${title}`, '22  a']);
});

test('a table on a terminal fits its width, whole columns staying whole', () => {
  const id = '01980000-0000-7000-8000-000000000001';
  const rows = [{ id, title: '紅樓夢'.repeat(30) }, { id, title: 'x'.repeat(100) }];
  const lines = new Table(COLUMNS, 60).formatRows(rows);
  assert.ok(lines.every((line) => textWidth(line) <= 60), lines.join('\n'));
  assert.ok(lines.slice(1).every((line) => line.startsWith(id)));
});

const WIDE: readonly Column<Row>[] = [
  ...COLUMNS,
  { title: 'HOOK', value: ({ id }) => id, fit: 'whole' },
  { title: 'EVENT', value: () => 'book.created' },
];

test('a row takes several lines where cutting is not enough', () => {
  const id = '01980000-0000-7000-8000-000000000001';
  const title = 'The Left Hand of Darkness, and Other Stories of the Ekumen';
  assert.deepEqual(new Table(WIDE, 60).formatRows([{ id, title }]), [
    'ID',
    '  TITLE',
    '  HOOK                                  EVENT',
    id,
    `  ${title}`,
    `  ${id}  book.created`,
  ]);
  for (let width = 40; width <= 120; width += 1) {
    const lines = new Table(WIDE, width).formatRows([{ id, title }]);
    assert.ok(lines.every((line) => textWidth(line) <= width), lines.join('\n'));
    assert.equal(lines.join('\n').split(id).length, 3);
  }
});

const BOOK = {
  id: '019b76da-a800-7e30-b965-6d04b8000001',
  title: 'The Left Hand of Darkness, and Other Stories of the Ekumen',
};
const BY_IMPORTANCE: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id, fit: 'whole', short: ({ id }) => `…${id.slice(-12)}` },
  { title: 'TITLE', value: ({ title }) => title, widthMin: 30 },
  { title: 'AUTHORS', value: () => 'Ursula K. Le Guin; Theodore Sturgeon', widthMin: 12,
    importance: 3 },
  { title: 'PUBLISHED', value: () => '1969-03-01', fit: 'whole', importance: 2 },
  { title: 'ISBN', value: () => '9780441478125', fit: 'whole', importance: 1 },
];
const FITTED: readonly (readonly [width: number, titles: string, row: string])[] = [
  [170, 'ID TITLE AUTHORS PUBLISHED ISBN',
    `${BOOK.id}  ${BOOK.title}  Ursula K. Le Guin; Theodore Sturgeon  1969-03-01  9780441478125`],
  [120, 'ID TITLE AUTHORS PUBLISHED ISBN', '…6d04b8000001  The Left Hand of Darkness, and Other St…'
    + '  Ursula K. Le Guin; Theodore Sturgeon  1969-03-01  9780441478125'],
  [80, 'ID TITLE AUTHORS PUBLISHED',
    '…6d04b8000001  The Left Hand of Darkness, an…  Ursula K. Le Guin; T…  1969-03-01'],
  [60, 'ID TITLE AUTHORS', '…6d04b8000001  The Left Hand of Darkness, an…  Ursula K. Le…'],
  [50, 'ID TITLE', '…6d04b8000001  The Left Hand of Darkness, and Oth…'],
];
for (const [width, titles, row] of FITTED) {
  test(`${width} columns show ${titles}`, () => {
    const [head = '', line = ''] = new Table(BY_IMPORTANCE, width).formatRows([BOOK]);
    assert.equal(head.split(/ +/).join(' '), titles);
    assert.equal(line, row);
    assert.ok(textWidth(line) <= width);
  });
}

test('colours titles, good and bad values, and counts colours as no width', () => {
  const columns: readonly Column<Row>[] = [
    { title: 'STATUS', value: ({ id }) => id, tone: ({ id }) => id === 'ok' ? 'good' : 'bad' },
    ...COLUMNS.slice(1),
  ];
  const rows = [{ id: 'ok', title: 'a' }, { id: 'failed', title: 'b' }];
  const paint = (text: string, tone: string | undefined): string =>
    tone === undefined ? text : `<${tone}>${text}</>`;
  assert.deepEqual(new Table(columns, 80, paint).formatRows(rows), [
    '<strong>STATUS</>  <strong>TITLE</>', '<good>ok</>      a', '<bad>failed</>  b',
  ]);
});

test('wraps prose below its beginning and cuts none of it', () => {
  const columns: readonly Column<Row>[] = [
    { title: 'ID', value: ({ id }) => id, fit: 'whole' },
    { title: 'FOUND', value: ({ title }) => title, fit: 'wrap' },
  ];
  const rows = [{ id: '17', title: 'there is no room: free some of it, or move elsewhere' }];
  assert.deepEqual(new Table(columns, 36).formatRows(rows), [
    'ID  FOUND',
    '17  there is no room: free some of',
    '    it, or move elsewhere',
  ]);
  assert.equal(new Table(columns, null).formatRows(rows)[1], `17  ${rows[0]?.title}`);
});

test('later pages keep the columns of the first', () => {
  const table = new Table(COLUMNS, null);
  table.formatRows([{ id: '1234', title: 'a' }]);
  assert.deepEqual(table.formatRows([{ id: '5', title: 'b' }]), ['5     b']);
});

test('control characters in a cell cannot reach the terminal', () => {
  const [, line] = new Table(COLUMNS, 80).formatRows([{ id: '1', title: 'a\u001b[2Jb\nc\u202e' }]);
  assert.equal(line, '1   a\\u001b[2Jb\\u000ac\\u202e');
});

test('progress says count, rate and time left', () => {
  for (const [total, expected] of [
    [1000, '12,000 books, 400 a second, 1:30 left'], [null, '12,000 books, 400 a second'],
  ] as const) {
    const { stream, written } = streamThatKeeps(true);
    let nowMs = 0;
    const progress = new Progress(stream, () => nowMs, 'books', total);
    nowMs = 30_000;
    progress.update(12_000, 250);
    assert.ok(written.join('').endsWith(expected), written.join(''));
  }
});

test('draws progress only on a terminal, and no faster than one can read', () => {
  for (const isTTY of [true, false]) {
    const { stream, written } = streamThatKeeps(isTTY);
    let nowMs = 0;
    const progress = new Progress(stream, () => nowMs, 'books', 100);
    for (nowMs = 0; nowMs < 1000; nowMs += 10) progress.update(nowMs, 1);
    progress.end();
    assert.equal(written.length, isTTY ? 11 : 0);
  }
});

function streamThatKeeps(isTTY: boolean) {
  const written: string[] = [];
  const stream = Object.assign(new Writable({
    write(chunk: Buffer, _encoding, callback) {
      written.push(chunk.toString());
      callback();
    },
  }), { isTTY });
  return { stream, written };
}
