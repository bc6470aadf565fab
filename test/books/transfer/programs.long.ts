/**
 * Other programs against our formats, both ways: they read what we write and find the same books,
 * and we read what they write. pandoc and bibutils come from Debian (`npm run tools`); citation-js
 * and jsonld are no dependency of ours: `node .ci/formats.mjs` installs them aside and names their
 * folder.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../src/base/schema.ts';
import type { Author, Book, BookInput } from '../../../src/books/book.ts';
import type { FormatCodec } from '../../../src/books/transfer/format-codec.ts';
import { cslCodec } from '../../../src/books/transfer/sources/csl.ts';
import { risCodec } from '../../../src/books/transfer/sources/ris.ts';
import { startBookServer } from '../../support/book-server.ts';
import type { BookServer } from '../../support/book-server.ts';
import { readCsl, readMods, runProgram } from '../../support/bibliography-programs.ts';
import type { Edition } from '../../support/bibliography-programs.ts';
import { writeText } from '../../support/format-round-trip.ts';
import { hostileBook } from '../../support/hostile-books.ts';
import { createRandom } from '../../support/random.ts';
import { hasProgram } from '../../support/shell.ts';

const FOLDER = process.env['FORMATS_FOLDER'];
const NO_LIBRARIES = FOLDER === undefined && 'run `node .ci/formats.mjs`';
const NO_PANDOC = !hasProgram('pandoc') && 'there is no pandoc';
const NO_BIBUTILS = !hasProgram('bib2xml') && 'there is no bibutils';
const require = createRequire(join(FOLDER ?? import.meta.dirname, 'package.json'));

const samples = JSON.parse(readFileSync('data/samples/books.json', 'utf8')) as readonly Book[];

type Row = readonly [format: string, name: string, habits: Habits];

const SERIES = [
  { name: 'Hainish Cycle', position: 4 }, { name: 'SF & More', position: 1.5 },
] as const;
const READING =
  { status: 'read', rating: 4.5, shelves: ['own'], review: 'Cold {and} "fine".\n\n#2' } as const;

/** Names and texts that the formats say in different ways. */
const AWKWARD: readonly BookInput[] = [
  {
    title: 'Die Blechtrommel & 100 % {Blech} #1 $5 a_b', isbn: '9783423118217',
    authors: [{ name: 'Günter Graß', givenName: 'Günter', familyName: 'Graß' }],
    publisher: 'dtv & Söhne', datePublished: '1997-10',
  },
  {
    title: 'El amor en los tiempos del cólera', isbn: '9780307387264', datePublished: '2007-10-05',
    authors: [
      { name: 'Gabriel García Márquez', givenName: 'Gabriel', familyName: 'García Márquez' },
    ],
    publisher: 'Vintage Español',
  },
  {
    title: 'Łódź, Čapek, Ørsted, Åse, œuvre, Straße, ñandú, İstanbul', datePublished: '1969',
    authors: [{ name: 'Karel Čapek' }, { name: 'Vincent van Gogh' }, { name: 'Łukasz Żółć' }],
    publisher: 'Éditions de l’Œuvre',
  },
  {
    title: 'Why We Can’t Wait', subtitle: 'A “Letter” — and More', datePublished: '1964',
    authors: [
      { name: 'Martin Luther King Jr.', givenName: 'Martin Luther', familyName: 'King' },
    ],
    publisher: 'Harper and Row',
  },
  {
    title: 'The Left Hand of Darkness', authors: [{ name: 'Ursula K. Le Guin' }],
    isbn: '9780441478125', datePublished: '1969', publisher: 'Ace',
    series: SERIES, reading: READING,
  },
  { title: 'Улитка на склоне', authors: [{ name: 'Аркадий Стругацкий' }], datePublished: '1966' },
  { title: 'Beowulf', authors: [], datePublished: '0975', publisher: 'Anonymous' },
];
/** With ids that differ in their first 20 characters, which are all that some programs keep. */
const books: readonly BookInput[] = [...samples, ...AWKWARD.map((book, index) =>
  ({ ...book, id: `0000000${index}-0000-7000-8000-000000000000` }))];
/** In the order of their ids, as exports are. */
let stored: readonly Book[] = [];
let expected: readonly Edition[] = [];

let server: BookServer;

before(async () => {
  server = await startBookServer();
  await importFile(server, 'jsonl', books.map((book) => `${JSON.stringify(book)}\n`).join(''));
  stored = JSON.parse(await exportFile('json')) as Book[];
  expected = stored.map(editionOf);
});

after(() => server.close());

async function importFile(to: BookServer, format: string, file: string): Promise<void> {
  const answer = await to.ask('POST', `/api/books/import?format=${format}`, file);
  assert.equal(answer.status, 200, answer.text);
  const count = JSON.parse(answer.text.trim().split('\n').at(-1) ?? '') as JsonObject;
  assert.equal(count['skipped'], 0, answer.text);
}

async function exportFile(format: string): Promise<string> {
  const answer = await server.ask('GET', `/api/books?format=${format}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

function editionOf({ title, subtitle, authors, datePublished, isbn, publisher }: Book): Edition {
  return {
    title: subtitle === undefined ? title : `${title}: ${subtitle}`,
    authors: authors.map(fullNameOf),
    year: datePublished === undefined ? null : Number(datePublished.slice(0, 4)),
    isbn: isbn ?? null, publisher: publisher ?? null,
  };
}

/** The parts of a name where an author has them: they may say more than what is displayed. */
function fullNameOf({ name, givenName, familyName }: Author): string {
  if (givenName === undefined || familyName === undefined) return name;
  const suffix = name.endsWith(' Jr.') && !familyName.endsWith(' Jr.') ? ' Jr.' : '';
  return `${givenName} ${familyName}${suffix}`;
}

/** What the program does to texts on its way, which is not our affair. */
type Habits = {
  /** It says titles in its own capitals. */
  readonly changesCase?: true;
  /** It leaves braces as they are, which then are no text. */
  readonly dropsBraces?: true;
  /** It says these with other programs, not with this format. */
  readonly lacks?: readonly ('subtitle' | 'isbn')[];
};

function assertEditions(editions: readonly Edition[], habits: Habits = {}): void {
  const plain = editions.map((edition) => plainEdition(edition, habits));
  const differing = plain.flatMap((edition, index) => {
    const other = expected[index];
    const plainOther = other === undefined ? other : plainEdition(other, habits);
    return isDeepStrictEqual(edition, plainOther) ? [] : [[edition, plainOther]];
  });
  assert.deepEqual(differing, []);
  assert.equal(editions.length, expected.length);
}

/** Apostrophes and quotes are made typographic by some programs. */
function plainEdition(edition: Edition, habits: Habits): Edition {
  const { lacks = [] } = habits;
  const [mainTitle = ''] = edition.title.split(': ');
  let title = (lacks.includes('subtitle') ? mainTitle : edition.title).replaceAll('’', "'");
  if (habits.changesCase === true) title = title.toLowerCase();
  if (habits.dropsBraces === true) title = title.replace(/[{}]/g, '');
  return {
    ...edition, title,
    isbn: lacks.includes('isbn') ? null : edition.isbn,
    authors: edition.authors.map((name) => name.replace(/[,.]/g, '').replaceAll('’', "'")),
    publisher: edition.publisher?.replaceAll('’', "'") ?? null,
  };
}

/** Our file as the program's file, which we read. */
async function assertRead(
  format: string, file: string, habits: Habits = {},
): Promise<readonly Book[]> {
  const other = await startBookServer();
  try {
    await importFile(other, format, file);
    const answer = await other.ask('GET', '/api/books?format=json');
    const read = JSON.parse(answer.text) as readonly Book[];
    assertEditions(read.map(editionOf), habits);
    return read;
  } finally {
    await other.close();
  }
}

for (const [format, name, writtenHabits] of [
  ['bibtex', 'bibtex', { changesCase: true, lacks: ['isbn'] }],
  ['bibtex', 'biblatex', { changesCase: true }],
  ['csl', 'csljson', {}],
] as const satisfies readonly Row[]) {
  test(`pandoc reads our books from ${name}`, { skip: NO_PANDOC }, async () => {
    const csl = runProgram('pandoc', ['-f', name, '-t', 'csljson'], await exportFile(format));
    assertEditions(readCsl(JSON.parse(csl)));
  });

  test(`we read our books as pandoc writes them in ${name}`, { skip: NO_PANDOC }, async () => {
    const file = runProgram('pandoc', ['-s', '-f', 'csljson', '-t', name], await exportFile('csl'));
    await assertRead(format, file, writtenHabits);
  });
}

for (const [format, name, habits] of [
  // Its BibTeX knows no subtitle; BibLaTeX does.
  ['bibtex', 'bib', { lacks: ['subtitle'] }], ['bibtex', 'biblatex', {}], ['ris', 'ris', {}],
] as const satisfies readonly Row[]) {
  test(`bibutils read our books from ${name}`, { skip: NO_BIBUTILS }, async () => {
    const mods = runProgram(`${name}2xml`, ['-i', 'utf8'], await exportFile(format));
    assertEditions(readMods(mods), habits);
  });
}

for (const [name, words, codec, skip] of [
  ['pandoc', ['-f', 'csljson', '-t', 'csljson'], cslCodec, NO_PANDOC],
  ['ris2xml', ['-i', 'utf8'], risCodec, NO_BIBUTILS],
] as const satisfies readonly (readonly [string, readonly string[], FormatCodec, unknown])[]) {
  test(`${name} reads each book, whatever stands in its texts`, { skip }, () => {
    const random = createRandom(35);
    const hostile = Array.from({ length: 500 }, (_, number) => hostileBook(random, number));
    const found = runProgram(name, words, writeText(codec, hostile));
    const ids = found.matchAll(/^ *"id": "(.+)",?$|<mods ID="([^"]+)">/gm);
    assert.deepEqual([...ids].map(([, item, mods]) => item ?? mods), hostile.map(({ id }) => id));
  });
}

for (const [format, name] of [['bibtex', 'bib'], ['ris', 'ris']] as const) {
  test(`we read our books as bibutils write them in ${name}`, { skip: NO_BIBUTILS }, async () => {
    const mods = runProgram('biblatex2xml', ['-i', 'utf8'], await exportFile('bibtex'));
    await assertRead(format, runProgram(`xml2${name}`, [], mods));
  });
}

for (const [format, name, writtenHabits] of [
  ['bibtex', 'bibtex', { dropsBraces: true }], ['bibtex', 'biblatex', { dropsBraces: true }],
  ['ris', 'ris', {}], ['csl', 'data', {}],
] as const satisfies readonly Row[]) {
  test(`citation-js reads our books from ${name}`, { skip: NO_LIBRARIES }, async () => {
    const cite = loadCite();
    assertEditions(readCsl(new cite(await exportFile(format)).data));
  });

  test(`we read our books as citation-js writes them in ${name}`, { skip: NO_LIBRARIES },
    async () => {
      const cite = loadCite();
      const file = new cite(await exportFile('csl')).format(name);
      await assertRead(format, file, writtenHabits);
    });
}

type Cite = new (file: string) => {
  readonly data: readonly JsonObject[]; format(name: string): string;
};

function loadCite(): Cite {
  for (const name of ['bibtex', 'csl', 'ris']) require(`@citation-js/plugin-${name}`);
  const { Cite, plugins } = require('@citation-js/core') as CitationCore;
  // Unless told, it leaves out what is not ASCII.
  const { format } = plugins.config.get('@bibtex');
  format.asciiOnly = false;
  // Those that it makes of names and titles are the same for all that have no Latin letters.
  format.useIdAsLabel = true;
  return Cite;
}

type CitationCore = {
  readonly Cite: Cite;
  readonly plugins: {
    readonly config: { get(name: string): { readonly format: Record<string, boolean> } };
  };
};

/** The terms of schema.org for what our model has, by hand: the network is not asked. */
const SCHEMA = 'http://schema.org/';
const TERMS = [
  'Book', 'Person', 'Organization', 'PostalAddress', 'Hardcover', 'Paperback', 'EBook',
  'AudiobookFormat', 'GraphicNovel', 'name', 'alternativeHeadline', 'author', 'givenName',
  'familyName', 'birthDate', 'deathDate', 'address', 'streetAddress', 'addressLocality',
  'addressRegion', 'postalCode', 'addressCountry', 'isbn', 'publisher', 'datePublished',
  'isPartOf', 'BookSeries', 'position', 'review', 'Review', 'reviewBody', 'reviewRating', 'Rating',
  'ratingValue', 'inLanguage', 'numberOfPages', 'bookEdition', 'keywords', 'description',
];
const LINKS = ['url', 'image', 'bookFormat'];
const CONTEXT = {
  ...Object.fromEntries(TERMS.map((term) => [term, SCHEMA + term])),
  ...Object.fromEntries(LINKS.map((term) => [term, { '@id': SCHEMA + term, '@type': '@id' }])),
};
/** An unsafe document is one that has a member which no term defines. */
const OPTIONS = {
  safe: true,
  documentLoader(url: string) {
    assert.match(url, /^https?:\/\/schema\.org\/?$/);
    return Promise.resolve({ documentUrl: url, document: { '@context': CONTEXT } });
  },
};

type JsonLd = {
  expand(document: object, options: object): Promise<readonly JsonObject[]>;
  compact(document: object, context: object, options: object): Promise<JsonObject>;
  toRDF(document: object, options: object): Promise<string>;
};

const loadJsonLd = (): JsonLd => require('jsonld') as JsonLd;

test('jsonld knows each member that we write as one of schema.org', { skip: NO_LIBRARIES },
  async () => {
    const file = JSON.parse(await exportFile('jsonld')) as JsonObject;
    const nodes = await loadJsonLd().expand(file, OPTIONS);
    assert.deepEqual(nodes.map((node) => node['@type']), nodes.map(() => [`${SCHEMA}Book`]));
    const valueOf = (node: JsonObject | undefined, member: string): JsonObject =>
      (node?.[SCHEMA + member] as JsonObject[] | undefined)?.[0] ?? {};
    assert.deepEqual(
      nodes.map((node) => [valueOf(node, 'name'), valueOf(valueOf(node, 'publisher'), 'name')]
        .map((value) => value['@value'] ?? null)),
      stored.map(({ title, publisher }) => [title, publisher ?? null]));
    const lines = (await loadJsonLd().toRDF(file, { ...OPTIONS, format: 'application/n-quads' }))
      .trim().split('\n');
    for (const line of lines) assert.match(line, /^\S+ <http:\/\/(schema|www\.w3)\.org\//);
    const isbns = lines.filter((line) => line.includes(`<${SCHEMA}isbn>`));
    assert.equal(isbns.length, stored.filter(({ isbn }) => isbn !== undefined).length);
  });

for (const [name, make] of [
  ['whole terms', (file: JsonObject) => loadJsonLd().expand(file, OPTIONS)],
  ['a prefix', (file: JsonObject) => loadJsonLd().compact(file, { schema: SCHEMA }, OPTIONS)],
  ['names of its own', (file: JsonObject) =>
    loadJsonLd().compact(file, { titel: `${SCHEMA}name`, s: SCHEMA }, OPTIONS)],
  ['a vocabulary', (file: JsonObject) =>
    loadJsonLd().compact(file, { '@vocab': SCHEMA }, OPTIONS)],
] as const) {
  test(`we read our books as jsonld writes them with ${name}`, { skip: NO_LIBRARIES }, async () => {
    const file = JSON.parse(await exportFile('jsonld')) as JsonObject;
    const read = await assertRead('jsonld', JSON.stringify(await make(file)));
    const { series, reading } = read.find((book) => book.series !== undefined) ?? {};
    const [first, { name: second }] = SERIES;
    assert.deepEqual({ series, reading }, {
      series: [first, { name: second }],
      reading: { rating: READING.rating, review: READING.review },
    });
  });
}
