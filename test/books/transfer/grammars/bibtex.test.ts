import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BibtexSplitter } from '../../../../src/books/transfer/grammars/bibtex.ts';
import type {
  BrokenRecord, FieldRecord,
} from '../../../../src/books/transfer/mapping/format-table.ts';
import { heldBytes } from '../../../support/memory.ts';
import { below, createRandom } from '../../../support/random.ts';
import type { Random } from '../../../support/random.ts';
import { longTest } from '../../../support/long.ts';

type Records = readonly (FieldRecord | BrokenRecord)[];

/** In pieces of a few bytes where there is a `random`. */
function read(text: string | Buffer, random?: Random): Records {
  const splitter = new BibtexSplitter(new Set(['title', 'author']));
  const bytes = Buffer.from(text);
  const records: (FieldRecord | BrokenRecord)[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = random === undefined ? bytes.length : start + 1 + below(random, 20);
    for (const record of splitter.push(Buffer.from(bytes.subarray(start, end)))) {
      records.push(record);
    }
    start = end;
  }
  return [...records, ...splitter.end()].filter((record) => record !== null);
}

function fieldsOf(text: string): Record<string, unknown> {
  const records = read(text);
  assert.equal(records.length, 1, JSON.stringify(records));
  const [record] = records;
  assert.ok(record !== undefined && 'fields' in record, JSON.stringify(record));
  return Object.fromEntries(record.fields);
}

/** `key` or `key: problem`, with the line, of each record. */
function summarize(records: Records): readonly string[] {
  return records.map((record) => `${record.line} ${record.key}${
    'problem' in record ? `: ${record.problem}` : ''}`);
}

test('values in braces, in quotes, of digits, of strings and joined are read as they stand', () => {
  const cases: readonly (readonly [value: string, text: string])[] = [
    ['{a {b} c}', 'a {b} c'], ['"a {"b"} c"', 'a {"b"} c'], ['1999', '1999'], ['jan', 'jan'],
    ['Acm', 'A. C. M.'], ['ACM # " Press"', 'A. C. M. Press'], ['unknown', 'unknown'],
    ['10 # "~" # mar', '10~mar'], ['{\\"u 100% @x{y}\n  z}', '\\"u 100% @x{y}\n  z'], ['""', ''],
    ['"(a) )"', '(a) )'], ['both', 'A. C. M.!'],
  ];
  const strings = '@string{acm = "A. C. M."} @STRING(both = acm # {!})';
  for (const [value, text] of cases) {
    assert.deepEqual(fieldsOf(`${strings}@book{k, x = ${value}}`), { x: text }, value);
    assert.deepEqual(fieldsOf(`${strings}\n@book(k,\n x=${value},\n)`), { x: text }, value);
  }
});

test('what stands between entries, comments and preambles are no records', () => {
  const text = [
    '% Encoding: UTF-8', '%@book{hidden, title = {x}}', 'me@a.example wrote this', '',
    '@comment{jabref-meta: {a} @book{inner, title={x}}}', '@Comment no braces',
    '@preamble{"\\newcommand{\\x}{y}" # "}"}', 'junk@book{a, title={x} % a comment }', ', % more',
    '}@book{b}',
  ].join('\n');
  const random = createRandom(1);
  for (const records of [read(text), read(text, random)]) {
    assert.deepEqual(summarize(records), ['8 a', '10 b']);
  }
});

test('names have no case where they are read, and keep it elsewhere; twice is a list', () => {
  assert.deepEqual(fieldsOf('@BOOK{K, Title={a}, TITLE={b}, Date-Added={c}}'),
    { title: ['a', 'b'], 'Date-Added': 'c' });
});

test('a kind other than a book stands in a field', () => {
  const [record] = read('@InCollection{k, x={y}}');
  assert.deepEqual(record, {
    line: 1, key: 'k', type: 'incollection',
    fields: new Map([['entrytype', 'incollection'], ['x', 'y']]),
  });
});

test('entries come as they stand, also before their parents', () => {
  const records = read('@string{s = "t"}\n@book{a, crossref = {p}}\n@xdata{x, a = {b}}\n'
    + '@article{b}\n@book{c,\n@comment{d}\n@book{p, note = s}\n');
  assert.deepEqual(summarize(records).map((line) => line.slice(0, 3)),
    ['2 a', '4 b', '5 c', '7 p']);
  const [first] = records;
  assert.deepEqual(first !== undefined && 'fields' in first && [...first.fields],
    [['note', 't'], ['xref', 'p']]);
});

test('a broken entry is named with its line, its key and what is wrong where', () => {
  const cases: readonly (readonly [text: string, summary: string])[] = [
    ['@book{k,\n title = }', '1 k: line 2: the text of "title" is missing'],
    ['@book{k, a = {x} b = {y}}',
      '1 k: after the text of "a" a comma is missing, before "b = {y}}"'],
    ['@book{k, a {x}}', '1 k: after the name "a" a = is missing'],
    ['@book{k, = {x}}', '1 k: the name of a field is missing before "= {x}}"'],
    ['@book{k l, a = {x}}', '1 null: after the key "k" a comma is missing'],
    ['@book{title = {x}}', '1 null: the key is missing: write @book{key, title = {…}}'],
    ['@book{k, a = "x}', '1 k: the text of "a" has no closing quote, or a brace without its '
      + 'partner'],
    ['@book(k, a = {x}})', '1 k: after the text of "a" a comma is missing, before "})"'],
    ['\n\n@book{k, a = {x}',
      '3 k: the entry is not closed: its last } is missing, or that of a { in it'],
    ['@ book key', '1 null: after @book a { is missing: write @book{key, …}'],
    ['@string{a = {x}, b = {y}}', '1 null: a @string has one name and one text'],
  ];
  for (const [text, summary] of cases) assert.deepEqual(summarize(read(text)), [summary]);
});

test('bytes that are not UTF-8 break their entry alone', () => {
  const text = Buffer.concat([
    Buffer.from('@book{a, t={'), Buffer.from([0xe9]), Buffer.from('}}\n@book{b}')]);
  assert.deepEqual(summarize(read(text)), ['1 a: not valid UTF-8', '2 b']);
});

test('a file of text without an entry is told at its first line, but not one of comments', () => {
  for (const [text, expected] of [
    ['\n % notes\n <html>\n</html>', '3 null: expected an entry of BibTeX, such as'],
    ['mail me@example.org', '1 null: expected an entry of BibTeX, such as'],
  ] as const) {
    const [first, ...others] = summarize(read(text));
    assert.ok(first?.startsWith(expected) && others.length === 0, text);
  }
  for (const text of [
    '', ' \n', '% Encoding: UTF-8\n', '@comment{jabref-meta: databaseType:bibtex;}\n', '@comment x',
    'mine\n@string{a = {b}}\nmine', '@preamble{"x"} x',
  ]) assert.deepEqual(read(text), [], text);
});

test('after a mistake reading goes on at the next @ at a line start, also within the entry', () => {
  const text = [
    '@book{a, t = {x', '@book{b, t = {y}}', '@book{c, t = "@d"}', '@book{e, t = {z',
    '  @book{f, t = {', '@book{g}}', '@book{h}',
  ].join('\r\n');
  const problem = 'the entry is not closed: its last } is missing, or that of a { in it';
  const random = createRandom(2);
  for (const records of [read(text), read(text, random)]) {
    assert.deepEqual(summarize(records),
      [`1 a: ${problem}`, '2 b', '3 c', `4 e: ${problem}`, `5 f: ${problem}`, '6 g', '7 h']);
  }
});

test('a lone @ is told, but not on the lines that a broken entry swallowed', () => {
  const problem = 'the entry is not closed: its last } is missing, or that of a { in it';
  assert.deepEqual(summarize(read('@a\n@book{k, t = {x\n@\n@a\n@book{b}')),
    ['1 null: after @a a { is missing: write @book{key, …}', `2 k: ${problem}`, '5 b']);
});

test('an @ at a line start within a valid entry is text', () => {
  assert.deepEqual(fieldsOf('@book{k, t = {\n@book{x,}\n@}}'), { t: '\n@book{x,}\n@' });
});

test('lines end in LF, CRLF or CR', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['@book{a,', 't={x}', '}', '', '@book{b}', '@book{c, t=}'].join(end);
    assert.deepEqual(summarize(read(text)), ['1 a', '5 b', '6 c: the text of "t" is missing']);
  }
});

test('a child has the fields of its parent, whose title is that of the whole', () => {
  const parent = '@collection{P, title={Whole}, publisher={Pub}, year=1999, crossref={none}}';
  const children = '@incollection{a, title={Part}, crossref={p}}\n'
    + '@book{b, title={B}, CrossRef={P}, date={2001}, publisher={Own}}\n';
  for (const text of [children + parent, `${parent}\n${children}`]) {
    const records = new Map(read(text).map((record) =>
      [record.key, 'fields' in record ? Object.fromEntries(record.fields) : {}]));
    assert.deepEqual(records.get('a'), {
      entrytype: 'incollection', title: 'Part', booktitle: 'Whole', publisher: 'Pub',
      year: '1999', xref: 'p',
    });
    assert.deepEqual(records.get('b'), {
      title: 'B', date: '2001', publisher: 'Own', booktitle: 'Whole', xref: 'P',
    });
  }
});

test('titles and authors are inherited as BibLaTeX names them, short and sorted ones not', () => {
  const own = 'shorttitle={s}, sorttitle={s}, indextitle={s}, indexsorttitle={s}, shortauthor={s}, '
    + 'label={s}, sortkey={s}, options={s}, ids={s}, shorthand={s}';
  const titles = 'title={T}, subtitle={S}, titleaddon={A}, author={N}';
  const book = { booktitle: 'T', booksubtitle: 'S', booktitleaddon: 'A', author: 'N' };
  const main = { maintitle: 'T', mainsubtitle: 'S', maintitleaddon: 'A', author: 'N' };
  const journal = {
    journaltitle: 'T', journalsubtitle: 'S', journaltitleaddon: 'A', author: 'N',
  };
  for (const [parent, child, expected] of [
    ['book', 'inbook', { ...book, bookauthor: 'N' }],
    ['mvbook', 'inbook', { ...main, bookauthor: 'N' }],
    ['mvbook', 'book', main], ['mvcollection', 'collection', main],
    ['collection', 'incollection', book], ['proceedings', 'inproceedings', book],
    ['reference', 'inreference', book], ['periodical', 'article', journal],
    ['book', 'book', { title: 'T', subtitle: 'S', titleaddon: 'A', author: 'N' }],
  ] as const) {
    const records = read(`@${parent}{p, ${titles}, ${own}}@${child}{c, crossref={p}}`);
    const record = records.find(({ key }) => key === 'c');
    assert.ok(record !== undefined && 'fields' in record);
    const { entrytype: _, xref: __, ...fields } = Object.fromEntries(record.fields);
    assert.deepEqual(fields, expected, `${parent} to ${child}`);
  }
});

test('an entry takes the fields of its xdata, which is no record', () => {
  const records = read('@xdata{x, publisher={P}}@book{a, title={A}, xdata={x, y}}'
    + '@xdata{y, note={N}, title={no}}');
  assert.deepEqual(summarize(records), ['1 a']);
  const [record] = records;
  assert.ok(record !== undefined && 'fields' in record);
  assert.deepEqual([...record.fields.keys()], ['title', 'publisher', 'note']);
});

test('a reference stays where a parent is missing, and a crossref stands beside an xref', () => {
  const parents = '@xdata{x, publisher={P}}@book{p, note={N}}';
  for (const [fields, names] of [
    ['xdata={x, y}', ['xdata', 'publisher']],
    ['crossref={q}, xdata={x}', ['crossref', 'publisher']],
    ['crossref={p, q}', ['crossref', 'note']], ['crossref={p}, crossref={q}', ['crossref', 'note']],
  ] as const) {
    const records = read(`${parents}@book{a, ${fields}}`);
    const record = records.at(-1);
    assert.ok(record !== undefined && 'fields' in record);
    assert.deepEqual([...record.fields.keys()], names);
  }
  const record = read(`${parents}@book{a, xref={z}, crossref={p}}`).at(-1);
  assert.deepEqual(record !== undefined && 'fields' in record && record.fields.get('xref'),
    ['z', 'p']);
});

test('of the parents in an xdata the first 100 count, each once', () => {
  const keys = Array.from({ length: 101 }, (_, index) => `x${index}`);
  const parents = keys.map((key) => `@xdata{${key}, f${key}={v}}`).join('');
  const [record] = read(`${parents}@book{a, xdata={x0,x0,${keys.join(',')}}}`);
  assert.deepEqual(record !== undefined && 'fields' in record && [...record.fields.keys()],
    ['xdata', ...keys.slice(0, 100).map((key) => `f${key}`)]);
});

longTest('many references to a parent of many fields take little time', () => {
  const fields = Array.from({ length: 900 }, (_, index) => `f${index}={x}`).join(',');
  const parents = Array.from({ length: 100 }, (_, index) => `@xdata{${index}, ${fields}}`).join('');
  const keys = Array.from({ length: 100 }, (_, index) => index).join();
  for (const entries of [
    `@book{a, xdata={${'p,'.repeat(900_000)}p}}@book{p, ${fields}}`,
    parents + `@book{a, xdata={${keys}}}`.repeat(5000),
  ]) {
    const before = process.cpuUsage();
    read(entries);
    assert.ok(process.cpuUsage(before).user < 6_000_000);
  }
});

test('children without a parent, of each other and of themselves are read as they stand', () => {
  const text = '@book{a, crossref={b}}@book{b, crossref={a}}@book{c, crossref={c}}'
    + '@book{d, crossref={nobody}}@book{e, crossref={d}, x={y}}';
  assert.deepEqual(summarize(read(text)).map((line) => line.slice(2)), ['a', 'b', 'c', 'd', 'e']);
});

test('parents in a circle lose nothing of their own, whichever comes first', () => {
  const entries = [
    '@book{a, crossref={B}, note={na}}', '@book{b, crossref={c}, xdata={x}, year=1999}',
    '@book{C, crossref={a}, publisher={PC}}', '@book{d, crossref={c}, title={D}}',
    '@book{e, crossref={d}, isbn={1}}', '@xdata{x, series={S}}',
  ];
  const random = createRandom(9);
  for (let round = 0; round < 20; round += 1) {
    const text = entries.toSorted(() => random() - 0.5).join('\n');
    const records = new Map(read(text).map((record) =>
      [record.key, 'fields' in record ? Object.fromEntries(record.fields) : record.problem]));
    assert.deepEqual(Object.fromEntries(records), {
      a: { note: 'na', year: '1999', series: 'S', publisher: 'PC', xref: 'B' },
      b: { year: '1999', series: 'S', publisher: 'PC', note: 'na', xref: 'c' },
      C: { publisher: 'PC', note: 'na', year: '1999', series: 'S', xref: 'a' },
      d: { title: 'D', publisher: 'PC', note: 'na', year: '1999', series: 'S', xref: 'c' },
      e: { isbn: '1', title: 'D', publisher: 'PC', note: 'na', year: '1999', series: 'S',
        xref: 'd' },
    }, text);
  }
});

test('what children take from a parent and entries from strings is bounded', () => {
  const children = Array.from({ length: 1000 }, (_, index) => `@book{c${index}, crossref={p}}`);
  const parent = `@book{p, t={${'x'.repeat(100_000)}}}`;
  const fromParent = read(children.join('') + parent);
  assert.equal(fromParent.length, 1001);
  const inherited = fromParent.filter((record) => 'fields' in record).length;
  assert.ok(inherited > 200 && inherited < 300, String(inherited));

  const string = `@string{s = {${'x'.repeat(1_000_000)}}}`;
  const fromString = read(string + '@book{k, t=s}'.repeat(1000));
  assert.ok(fromString.filter((record) => 'fields' in record).length < 60);
  assert.deepEqual(summarize(read(`${string}@book{k, t=s#s#s}`)).map((line) => line.slice(0, 40)),
    ['1 k: "t" is longer than 2097152 characte']);
  assert.deepEqual(read(`${string}@string{u = s # s}`).length, 1);
});

longTest('no step of reading takes long, whatever a file has', () => {
  const fields = Array.from({ length: 990 }, (_, index) => `f${index}={}`).join();
  const children = Array.from({ length: 9_999 }, (_, index) => `@book{c${index},crossref={p}}`);
  const chain = Array.from({ length: 9_999 }, (_, index) =>
    `@book{k${index},crossref={k${index + 1}},f${index}={}}`);
  for (const text of [
    `${children.join('')}@book{p,${fields}}`, `${chain.join('')}@book{k9999}`, 'x '.repeat(500_000),
    `@book{a, crossref={b}}${'@book{k}'.repeat(10_000)}${'% comment\n'.repeat(50_000)}`,
  ]) {
    const splitter = new BibtexSplitter(new Set());
    splitter.push(Buffer.from(text));
    let longestMs = 0;
    let steps = 0;
    const rest = splitter.end();
    for (let isDone = false; !isDone; steps += 1) {
      const before = process.cpuUsage();
      isDone = rest.next().done === true;
      longestMs = Math.max(longestMs, process.cpuUsage(before).user / 1000);
    }
    assert.ok(steps > 5 && longestMs < 100, `${steps} steps, one of ${longestMs} ms`);
  }
});

/** A splitter with so many entries, each with a parent of its own; the text is not held. */
function holdChildren(count: number): BibtexSplitter {
  const splitter = new BibtexSplitter(new Set());
  for (let index = 0; index < count; index += 1) {
    splitter.push(Buffer.from(`@book{p${index}}@book{c${index},crossref=p${index}}`));
  }
  return splitter;
}

longTest('of very many tiny parents and children hardly more is held than of some', () => {
  const splitter = holdChildren(30_000);
  const before = heldBytes();
  let count = 0;
  let growth = 0;
  for (const record of splitter.end()) {
    count += record === null ? 0 : 1;
    if (record !== null && count === 55_000) growth = heldBytes() - before;
  }
  assert.equal(count, 60_000);
  assert.ok(growth < 5_000_000, `${growth} bytes are held`);
});

test('of entries of one key the first is the parent', () => {
  const records = read('@book{a, t=1}@book{A, t=2}@book{c, crossref=a}@book{a, t=3}');
  const child = records.find(({ key }) => key === 'c');
  assert.ok(child !== undefined && 'fields' in child);
  assert.equal(child.fields.get('t'), '1');
});

longTest('a file of more than 64 MiB is refused with that number', () => {
  const splitter = new BibtexSplitter(new Set());
  for (let count = 0; count < 64; count += 1) splitter.push(Buffer.alloc(2 ** 20, '%'));
  assert.throws(() => splitter.push(Buffer.from('x')),
    /^AppError: the file is longer than 67108864 bytes, which is the most for BibTeX: divide it/);
});

test('macros of a preamble are followed, and others stay as they are written', () => {
  const preamble = '@preamble{"\\newcommand{\\noopsort}[1]{}" # "\\providecommand*\\swap[2]{#2#1}"'
    + ' # {\\newcommand{\\Name}{K\\"onig} \\newcommand{\\loop}{x\\loop\\loop}}}\n';
  for (const [text, expected] of [
    ['{\\noopsort{1973b}}1973', '{}1973'], ['\\swap{a}{b} c', 'ba c'], ['\\Name s', 'K\\"onigs'],
    ['\\swap ab', 'ba'], ['\\swap{\\Name}{ \\noopsort{x}}', ' K\\"onig'], ['\\foo{x}', '\\foo{x}'],
    ['\\swap{a}', '\\swap{a}'], ['\\\\Name', '\\\\Name'],
    ['\\loop', 'xxx\\loop\\loop\\loop\\loop'.slice(0, 3)],
  ] as const) {
    const { t } = fieldsOf(`${preamble}@book{k, t = {${text}}}`);
    if (text === '\\loop') assert.ok(String(t).startsWith(expected) && String(t).length < 100);
    else assert.equal(t, expected, text);
  }
  assert.deepEqual(fieldsOf('@preamble{\\newcommand{\\a}{x}}@preamble{\\providecommand{\\a}{y}}'
    + '@book{k, t = {\\a}}'), { t: 'x' });
});

test('what the end of a file brings to light has strings of its own', () => {
  const string = `@string{s = {${'x'.repeat(1_000_000)}}}`;
  const records = read(`${string + '@book{k, t=s}'.repeat(20)}\n@book{a, t={\n@book{b, t=s}`);
  assert.deepEqual(summarize(records).slice(-2).map((line) => line.slice(0, 30)),
    ['2 a: the entry is not closed: ', '3 b']);
});

test('an entry of more than 2 MiB is a bad record, and the next is read', () => {
  const random = createRandom(3);
  const text = `@book{a, t={${'x'.repeat(2 ** 21)}}}\n@book{b}`;
  for (const records of [read(text), read(text.slice(0, 40) + text.slice(40), random)]) {
    assert.deepEqual(summarize(records), ['1 a: the record is longer than 2097152 bytes', '2 b']);
  }
});
