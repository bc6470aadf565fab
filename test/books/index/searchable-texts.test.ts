import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookSchema } from '../../../src/books/book.ts';
import { Memtable } from '../../../src/books/index/memtable.ts';
import { visitTexts } from '../../../src/books/index/searchable-texts.ts';
import { findStringEnd } from '../../../src/base/json/parse.ts';
import { eachTerm } from '../../../src/books/query/words.ts';
import { BitSet } from '../../../src/base/structures/bit-set.ts';
import { encodeByteString, foldCase } from '../../../src/base/text/fold.ts';
import { encodeRecord } from '../../../src/resources/record.ts';
import { createRandom } from '../../support/random.ts';
import { pick, randomBook } from '../../support/random-books.ts';

type Fields = {
  readonly title: string;
  readonly subtitle?: string;
  readonly authors: readonly { readonly name: string }[];
  readonly isbn?: string;
  readonly publisher?: string;
  readonly keywords?: readonly string[];
  readonly series?: readonly { readonly name: string; readonly position?: number }[];
  readonly reading?: { readonly shelves?: readonly string[]; readonly review?: string };
  readonly metadata?: object;
};
type Found = Readonly<Record<
  'texts' | 'authors' | 'publishers' | 'keywords' | 'reviews' | 'metadata', string[]>>;

const TIME = '2026-01-01T00:00:00.000Z';
const NASTY = [
  '"', '\\', '\\"', '","keywords":["no"],"title":"no', '}]},{', '\u0000\u001f', '\ud800', 'é\\',
  'ASCII then Ł', 'a-Ł', 'İstanbul', 'K\u0301', '😀', '東京 and Tokyo', 'x'.repeat(5000), ' ', '{',
];
const CASES: readonly Fields[] = [
  { title: 'Alone', authors: [] },
  { title: 'Empty lists', authors: [], keywords: [], series: [], reading: { shelves: [] } },
  { title: 'Reading alone', authors: [], reading: { review: 'Good.' } },
  {
    title: 'Metadata', authors: [],
    metadata: { 'a"': 'in the "attic"', 'source': { x: 'no' }, 'n': 2, 'list': ['no'], 'b': '' },
  },
  ...NASTY.map((text) => fieldsWith(text)),
];

for (const [index, fields] of CASES.entries()) {
  test(`the texts of a stored book are found in its bytes, case ${index}`, () => {
    const bytes = encode(fields);
    const found: Found = {
      texts: [], authors: [], publishers: [], keywords: [], reviews: [], metadata: [],
    };
    const into = (list: string[]) => (source: Buffer, start: number): number => {
      const end = findStringEnd(source, start);
      list.push(String(JSON.parse(source.toString('utf8', start - 1, end + 1))));
      return end;
    };
    visitTexts(bytes, {
      visitText: into(found.texts), visitAuthor: into(found.authors),
      visitPublisher: into(found.publishers), visitKeyword: into(found.keywords),
      visitReview: into(found.reviews), visitMetadata: into(found.metadata),
    });
    const book: Fields = JSON.parse(bytes.toString());
    const { title, subtitle, authors, isbn, publisher, keywords, series = [], reading } = book;
    assert.deepEqual(found, {
      texts: [title, subtitle, isbn, ...series.map(({ name }) => name), ...reading?.shelves ?? []]
        .filter((text) => text !== undefined),
      metadata: Object.values(book.metadata ?? {}).filter((value) => typeof value === 'string'),
      reviews: reading?.review === undefined ? [] : [reading.review],
      authors: authors.map(({ name }) => name),
      publishers: publisher === undefined ? [] : [publisher], keywords: keywords ?? [],
    });
  });
}

test('a memtable has exactly the terms of the decoded texts', () => {
  const random = createRandom(11);
  const books = [...CASES, ...Array.from({ length: 300 }, (_, index) =>
    randomBook(random, `id-${index}`)), ...Array.from({ length: 300 }, () => {
    const text = `${pick(random, NASTY)} ${pick(random, NASTY)}`;
    return fieldsWith(text);
  })];
  const memtable = new Memtable();
  const documentsOf = new Map<string, Set<number>>();
  for (const [document, book] of books.entries()) {
    const { title, subtitle, authors, isbn, publisher, keywords, series, reading } = book;
    const fields = { title, subtitle, authors, isbn, publisher, keywords, series, reading };
    memtable.add(document, encode(fields));
    for (const term of termsOf(JSON.parse(JSON.stringify(fields)))) {
      documentsOf.set(term, (documentsOf.get(term) ?? new Set()).add(document));
    }
  }
  assert.equal(memtable.terms.count, documentsOf.size);
  for (const [term, documents] of documentsOf) {
    const found = new BitSet();
    for (const _ of memtable.addMatches(term, true, found));
    assert.deepEqual([...documents].filter((one) => !found.has(one)), [], term);
    assert.equal(found.count(), documents.size, term);
  }
});

test('no two members of a book are alike in first letter and length', () => {
  const names = Object.keys(bookSchema.members);
  assert.equal(new Set(names.map((name) => `${name[0]}${name.length}`)).size, names.length);
});

test('the first member of a stored author is the name', () => {
  const { authors } = bookSchema.members;
  assert.ok(authors?.schema.kind === 'array' && authors.schema.items.kind === 'object');
  assert.equal(Object.keys(authors.schema.items.members)[0], 'name');
});

test('nothing that is searched is stored after the reading', () => {
  const names = Object.keys(bookSchema.members);
  assert.deepEqual(names.slice(names.indexOf('reading') + 1),
    ['description', 'url', 'image', 'mergedIds', 'metadata']);
});

function fieldsWith(text: string): Fields {
  const fields = {
    title: text, subtitle: `sub ${text}`,
    authors: [
      { name: text, givenName: text, address: { streetAddress: text, postalCode: '}' } },
      { name: `O'${text}` },
    ],
    isbn: '9780441172719', publisher: text, datePublished: '1969', numberOfPages: 12,
    keywords: [text, `${text} more`, 'plain', 'Two Words'],
    series: [{ name: `series ${text}` }, { name: `Other ${text}`, position: 1.5 }],
    reading: { status: 'read', rating: 4.5, shelves: [`on ${text}`, 'own'], review: text },
    description: text, metadata: { title: text, keywords: [text] },
  };
  return fields;
}

function encode(fields: object): Buffer {
  const json = JSON.parse(JSON.stringify(fields));
  return Buffer.from(encodeRecord('id', 'a.b-c', { createdAt: TIME, updatedAt: TIME }, json));
}

function termsOf(
  { title, subtitle, authors, isbn, publisher, keywords, series = [], reading }: Fields,
): Set<string> {
  const terms = new Set<string>();
  const texts = [...keywords ?? [], ...series.map(({ name }) => name), ...reading?.shelves ?? []];
  for (const text of [title, subtitle, isbn, ...texts]) {
    eachTerm(text ?? '', (term) => terms.add(`t${term}`));
  }
  for (const { name } of authors) eachTerm(name, (term) => terms.add(`a${term}`));
  eachTerm(publisher ?? '', (term) => terms.add(`p${term}`));
  for (const one of keywords ?? []) terms.add(`k${encodeByteString(foldCase(one))}`);
  return terms;
}
