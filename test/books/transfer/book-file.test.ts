/** Files as they arrive: whatever their encoding, and wherever their chunks end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBookFile } from '../../../src/books/transfer/book-file.ts';
import type { FormatName } from '../../../src/books/transfer/format-list.ts';
import { FORMATS } from '../../../src/books/transfer/format-list.ts';
import { createBookWriter } from '../../../src/books/transfer/formats.ts';
import { findFormatByEnding } from '../../../src/books/transfer/recognise-format.ts';
import { below, createRandom } from '../../support/random.ts';

/** A file of each format, with a character that each encoding has another way of writing. */
const FILES: Readonly<Record<FormatName, readonly [name: string, text: string]>> = {
  json: ['a.json', '[{"title":"Émile"},\n{"title":"b"},{"titl":"c"}]'],
  jsonl: ['a.jsonl', '{"title":"Émile"}\r\n\r\n{"title":"b"}\n{'],
  csv: ['a.csv', 'title,subtitle\r\n"Ém""i\nle",b\r\nc,d,e\n'],
  jsonld: ['a.jsonld', '{"@context":"https://schema.org","@graph":[{"@type":"Book",'
    + '"@id":"urn:1","name":"Émile","author":{"name":"A B"}},{"@type":"Book","name":"b"}]}'],
  csl: ['a.csl.json', '[{"id":"x","type":"book","title":"Émile","issued":{"date-parts":[[1762]]}},'
    + '{"id":"y","type":"article","title":"b"}]'],
  bibtex: ['a.bib', '@string{p = {É. P.}}\n@book{x, title = {{\\\'E}mile}, publisher = p # " x"}\n'
    + '@article{y, title = {b}}\n@book{z, title = {Émile'],
  ris: ['a.ris', 'TY  - BOOK\r\nID  - 1\r\nTI  - Émile\r\nAU  - Rousseau, J.\r\nER  - \r\n'
    + 'TY  - JOUR\nTI  - b\nER  -\n'],
  goodreads: ['a.csv', 'Book Id,Title,Author,ISBN13,Exclusive Shelf\n'
    + '1,"Émile, ou",J. Rousseau,"=""9780439023511""",read\n2,,x,,\n'],
  storygraph: ['a.csv', 'Title,Authors,Contributors,ISBN/UID,Read Status\nÉmile,"A, B",,x,read\n'],
  librarything: ['a.tsv', 'Book Id\tTitle\tPrimary Author\tPublication\tWork id\n'
    + '1\tÉmile "ou"\tRousseau, J.\tLittle, Brown (1951)\t5\n'],
  calibre: ['a.csv', 'author_sort,authors,title,identifiers,uuid\n"R, J",J R,Émile,isbn:x,u-1\n'],
  bookwyrm: ['a.csv', 'title,author_text,remote_id,shelf,shelf_name,review_content\n'
    + 'Émile (Ö #1),J. Rousseau,https://b.test/1,own-1,Été,"<p>A</p>\n"\nx,,,\n'],
  openlibrary: ['a.csv', 'Work ID,Title,Authors,Bookshelf,My Ratings\n'
    + 'OL1W,Émile,J. R. | A B,Already Read,4\nOL2W,,,Want to Read,\n'],
  isbn: ['a.txt', '978-0-439-02348-1\r\n\nÉ\n0439023513\n'],
};

const ENCODINGS = [
  ['utf-8', (text: string) => Buffer.from(text)],
  ['utf-8', (text: string) => Buffer.from(`\ufeff${text}`)],
  ['utf-16le', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['utf-16be', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['windows-1252', (text: string) => Buffer.from(text, 'latin1')],
] as const;

test('records of two bytes are handed on some at a time, whatever their chunk', async () => {
  const source = async function* makeFile(): AsyncGenerator<Buffer> {
    yield Buffer.from(`[${'1,'.repeat(40_000)}`);
    yield Buffer.from(`${'1,'.repeat(100_000)}1]`);
  };
  const file = await openBookFile(source(), 'json', { hasAllTypes: false });
  const counts: number[] = [];
  for await (const records of file.readRecords()) counts.push(records.length);
  assert.equal(counts.reduce((sum, count) => sum + count), 140_001);
  assert(counts.slice(1).every((count) => count <= 8192), String(counts));
});

for (const { name, title } of FORMATS) {
  test(`${title} is known, in any encoding, and its records are the same however it is cut`,
    async () => {
      const random = createRandom(3310);
      const [path, text] = FILES[name];
      const whole = await read(path, [Buffer.from(text)]);
      assert.equal(whole.format, name);
      assert.ok(whole.records.length > 0);
      for (const [encoding, encode] of ENCODINGS) {
        const bytes = encode(text);
        for (const size of [1, 2, 3, 1 + below(random, 30), bytes.length]) {
          const file = await read(path, cut(bytes, size));
          assert.deepEqual(file, { ...whole, encoding }, `${encoding} in pieces of ${size}`);
        }
      }
    });
}

test('a first line such as `sep=;` says the separator, whatever the encoding and the pieces',
  async () => {
    for (const [path, text] of [
      ['a.csv', 'title;subtitle\nÉmile;"a, b, c"\n'], ['a.csv', 'title\tsubtitle\nÉ;,,;\tb\n'],
      ['a.csv', 'title\n1; 2; 3\nÉmile\n'],
      ['a.csv', FILES.goodreads[1]], ['a.csv', FILES.storygraph[1]], ['a.csv', FILES.calibre[1]],
      ['a.tsv', FILES.librarything[1]], ['a.txt', FILES.isbn[1]],
    ] as const) {
      const whole = await read(path, [Buffer.from(text)]);
      const separator = [';', '\t'].find((one) => text.split('\n')[0]?.includes(one)) ?? ',';
      for (const line of [`sep=${separator}`, `"SEP=${separator}"`]) {
        for (const [encoding, encode] of ENCODINGS) {
          const bytes = encode(`${line}\r\n${text}`);
          for (const size of [5, bytes.length]) {
            const { format, records } = await read(path, cut(bytes, size));
            assert.equal(format, whole.format, `${line} ${path} ${encoding}`);
            assert.deepEqual(records, whole.records.map((record) =>
              ({ ...record, line: Number(record['line']) + 1 })), `${line} ${encoding} ${size}`);
          }
        }
      }
    }
  });

test('a first line that says a separator counts before what the header shows', async () => {
  const { records } = await read('a.csv', [Buffer.from('sep=;\n"title"\n"A, B"\n1,2;3\n4;;\n')]);
  assert.deepEqual(records, [
    { line: 3, key: null, body: { title: 'A, B' }, leftOut: [] },
    { line: 4, key: null, problem: '2 cells, but the header names 1' },
    { line: 5, key: null, body: { title: '4' }, leftOut: [] },
  ]);
  const again = await read('a.csv', [Buffer.from('title\nsep=;\n')]);
  assert.deepEqual(again.records, [{ line: 2, key: null, body: { title: 'sep=;' }, leftOut: [] }]);
  await assert.rejects(read('a.csv', [Buffer.from('sep=|\ntitle|isbn\n')]),
    /line 1, .*separated by commas, semicolons or tabs/);
});

test('JSON Lines may end in CR, however the file is cut, where the first ones do', async () => {
  const [a, b, c] = ['{"title":"A"}', '{"title":"B"}', '{"title":"C"}'];
  for (const [text, expected] of [
    [`${a}\r${b}\r`, `1 ${a}, 2 ${b}`], [`\r${a} \r\r ${b}`, `2 ${a}, 4 ${b}`],
    [`${a}\r\r\r${b}\r\n\r${c}\n`, `1 ${a}, 4 ${b}, 6 ${c}`],
    [`no\r${a}\r${b}\r`, `1 no, 2 ${a}, 3 ${b}`],
    [`${a}\r`, `1 ${a}`], [`${a}\r\n${b}\r${c}\n`, `1 ${a}, 2 ${b}\r${c}`],
    ['{"metadata":{}\r,"title":"A"}\n{}', '1 {"metadata":{}\r,"title":"A"}, 2 {}'],
  ] as const) {
    for (const size of [1, 2, 3, 5, text.length]) {
      const { records } = await read('a.jsonl', cut(Buffer.from(text), size));
      const found = records.map(({ line, json }) => `${Number(line)} ${String(json).trim()}`);
      assert.equal(found.join(', '), expected, `pieces of ${size}`);
    }
  }
  const many = cut(Buffer.from(`${a}\r`.repeat(20_000)), 65_536);
  assert.equal((await read('a.jsonl', many)).records.length, 20_000);
});

test('an export of an empty catalog is read, and another empty file is told as one', async () => {
  for (const { name, isWritten } of FORMATS) {
    const [path] = FILES[name];
    if (isWritten) {
      const writer = await createBookWriter(name, {});
      const { format, records } = await read(path, [Buffer.from(writer.begin() + writer.end())]);
      assert.deepEqual([format, records], [name, []]);
    }
  }
  for (const path of ['a.jsonl', 'a.json', 'a.bib', 'a.ris']) {
    assert.deepEqual((await read(path, [Buffer.from('\ufeff \r\n')])).records, [], path);
  }
  for (const path of ['a.csv', 'a.tsv', 'a.txt', 'a.jsonld', 'a.csl.json']) {
    for (const text of ['', '\ufeff \r\n\t']) {
      await assert.rejects(read(path, [Buffer.from(text)]), /^AppError: the file is empty: /, path);
    }
  }
  await assert.rejects(read('a.csv', [Buffer.from('sep=;\n;;\n')]), /of the csv: it is missing/);
});

test('a file that is no text is refused with what to do, and none of its bytes', async () => {
  for (const [bytes, message] of [
    [Buffer.from('PK\x03\x04\x14\0\x06\0[Content_Types].xml', 'latin1'),
      /^the file is a spreadsheet: save it as CSV there, and import that file$/],
    [Buffer.from('PK\x03\x04\x14\0mimetypeapplication/epub+zip'), /^the file is a zip file/],
    [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), /^the file is a spreadsheet: /],
    [Buffer.from([0x1f, 0x8b, 8, 0, 0]), /^the file is compressed \(gzip\): unpack it/],
    [Buffer.from('%PDF-1.7\n'), /^the file is a PDF: /],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]), /^the file is no text: /],
    [Buffer.from('title\nA\n', 'utf16le'), /^the file looks like UTF-16 .* encoding, utf-16le$/],
    [Buffer.from('title\nA\n', 'utf16le').swap16(), / encoding, utf-16be$/],
  ] as const) {
    for (const path of ['a.csv', 'a.json', 'a.bib']) {
      await assert.rejects(read(path, [bytes]), { code: 'invalid', message });
    }
  }
});

test('a byte that is no UTF-8 far within a file makes it Windows-1252 from there on', async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => `Title ${index}\n`);
  const bytes = Buffer.from(`title\n${rows.join('')}\xc9mile \x96 x\n`, 'latin1');
  const { encoding, records } = await read('a.csv', cut(bytes, 65_536));
  assert.equal(encoding, 'windows-1252');
  assert.equal(records.length, 20_001);
  assert.deepEqual(records.at(-1),
    { line: 20_002, key: null, body: { title: 'Émile – x' }, leftOut: [] });
});

test('after valid UTF-8 a record with a wrong byte is bad, and the others are not', async () => {
  const bytes = Buffer.concat([Buffer.from('title\nÉmile\n'), Buffer.from('\xc9\nC\n', 'latin1')]);
  const { encoding, records } = await read('a.csv', [bytes]);
  assert.equal(encoding, 'utf-8');
  assert.deepEqual(records.map((record) => record['problem'] ?? 'good'),
    ['good', 'not valid UTF-8', 'good']);
});

test('half a character in a file of UTF-16 is told as no UTF-16, in each format', async () => {
  for (const { name } of FORMATS) {
    const [path, text] = FILES[name];
    for (const encoding of ['utf16le', 'utf16be'] as const) {
      const half = Buffer.from(`\ufeff${text.replace('É', '\ud83d')}`, 'utf16le');
      const { records } = await read(path, [encoding === 'utf16be' ? half.swap16() : half]);
      const problems = records.flatMap(({ problem }) => problem === undefined ? [] : [problem]);
      assert.match(String(problems[0]), /not valid UTF-16/, `${name} ${encoding}`);
      assert.ok(!problems.some((problem) => String(problem).includes('UTF-8')), name);
    }
  }
  const header = Buffer.concat([Buffer.from('\ufefftitle', 'utf16le'), Buffer.from('x')]);
  await assert.rejects(read('a.csv', [header]), /line 1, the header of the csv: not valid UTF-16$/);
  const { records } = await read('a.jsonl', [Buffer.from('\ufeff{"title":"\ud83d"}', 'utf16le')]);
  assert.deepEqual(records, [{ line: 1, problem: 'not valid UTF-16 at column 11' }]);
});

test('a file that is not read to its end lets its source go', async () => {
  let isReleased = false;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (;;) yield Buffer.from('title\nA\n'.repeat(10_000));
    } finally {
      isReleased = true;
    }
  }
  const file = await openBookFile(source(), 'csv', { hasAllTypes: false });
  for await (const records of file.readRecords()) if (records.length > 0) break;
  await file.close();
  assert.equal(isReleased, true);
  isReleased = false;
  const family = findFormatByEnding('a.csv') ?? 'csv';
  async function* unclear(): AsyncGenerator<Buffer> {
    yield Buffer.from('nope,nada\n');
    yield* source();
  }
  await assert.rejects(
    openBookFile(unclear(), family, { hasAllTypes: false }), /header of the csv/);
  assert.equal(isReleased, true);
});

test('other requests have a turn within a chunk of many records', async () => {
  let turns = 0;
  let isRead = false;
  const countTurn = (): void => {
    turns += 1;
    if (!isRead) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  await read('a.txt', [Buffer.from('9780439023481\n'.repeat(4600))]);
  isRead = true;
  assert.ok(turns > 10, `${turns} turns in a chunk of 64 KiB`);
});

type PlainRecord = Readonly<Record<string, unknown>>;

async function read(path: string, chunks: readonly Buffer[]) {
  async function* source(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const choice = findFormatByEnding(path);
  assert.ok(choice !== null);
  const file = await openBookFile(source(), choice, { hasAllTypes: false });
  const records: PlainRecord[] = [];
  for await (const some of file.readRecords()) {
    records.push(...some.map((record) =>
      record.json === undefined ? record : { ...record, json: record.json.toString() }));
  }
  return { format: file.format, encoding: file.encoding, records };
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size));
}
