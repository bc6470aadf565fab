/** Imports among other writes, on a store of files and on nodes of an engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { JsonObject } from '../../../../src/base/schema.ts';
import { createTurns } from '../../../../src/base/turns.ts';
import { createIdSource } from '../../../../src/base/uuid.ts';
import { bookResource } from '../../../../src/books/book-resource.ts';
import { createCatalog } from '../../../../src/books/catalog.ts';
import type { Catalog } from '../../../../src/books/catalog.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import type { ImportRecord } from '../../../../src/books/transfer/import-record.ts';
import type {
  BookImport, ImportedBook, MatchMode,
} from '../../../../src/books/transfer/matching/book-import.ts';
import { decodeRecord } from '../../../../src/resources/record.ts';
import type { Store } from '../../../../src/store/store-port.ts';
import { openStore } from '../../../../src/store/store.ts';
import { GOODREADS, PLAIN_MODE } from '../../../support/import-mode.ts';
import { IS_LONG } from '../../../support/long.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NaiveCatalog, toText } from '../../../support/naive-import.ts';
import type { NaiveImport, NaiveOutcome } from '../../../support/naive-import.ts';
import { openSharedStore } from '../../../support/open-shared-store.ts';
import { below, createRandom } from '../../../support/random.ts';
import type { Random } from '../../../support/random.ts';
import { pick } from '../../../support/random-books.ts';
import { SimulatedEngine } from '../../../support/simulated-engine.ts';
import { SimulatedFiles } from '../../../support/simulated-files.ts';

const SEEDS = IS_LONG ? 200 : 5;
const ROUNDS = 20;
const NAMED_MAX = 10;
const SPECS = [bookResource.collection];
const ISBNS = ['9780441172719', '9780306406157', '9791090636071', '9780439023481'];
const SOURCES = [['goodreads', null], ['calibre', null], ['jsonld', 'urn:uuid:']] as const;
const SOURCE_FORMATS = SOURCES.map(([format, bookIdPrefix]) =>
  ({ ...GOODREADS, format, ownIdFields: ['Id'], bookIdFields: ['Id'], bookIdPrefix }));
const OWN_IDS = Array.from({ length: 5 }, (_, index) => numberedId(0xfff0 + index));

test('imports among other writes do what a comparison with every book does', async () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const store = await openStore({
      directory: '/books', files: new SimulatedFiles(), specs: SPECS, logger: silentLogger,
      clock: new ManualClock(),
    });
    const run = new PropertyRun(store, createRandom(seed), `seed ${seed}`);
    for (let round = 0; round < ROUNDS; round += 1) await run.playRound(outcomes);
    run.close();
    await store.close();
  }
  assert.deepEqual([...outcomes].sort(),
    ['ambiguous', 'exists', 'imported', 'repeated', 'replaced', 'unchanged', 'updated']);
});

type OpenImport = { readonly bookImport: BookImport; readonly naive: NaiveImport };

/** A catalog, and the naive one that has to be like it. */
class PropertyRun {
  readonly #catalog: Catalog;
  readonly #naive = new NaiveCatalog();
  readonly #random: Random;
  readonly #told: string;
  readonly #imports = new Map<string, OpenImport>();
  #idCount = 0;
  #naiveIdCount = 0;

  constructor(store: Store, random: Random, told: string) {
    this.#random = random;
    this.#told = told;
    this.#catalog = createCatalog({
      store, clock: { now: () => 0 }, turns: createTurns(systemClock),
      makeId: () => numberedId(this.#idCount += 1),
    });
  }

  /** Writes of several kinds, none of which waits for another. */
  async playRound(outcomes: Set<string>): Promise<void> {
    const mode = randomMode(this.#random);
    const open = await this.#open(mode, outcomes);
    await this.#checkDryRun(mode);
    const works: Promise<void>[] = [];
    for (let write = 0; write < 4; write += 1) {
      works.push(this.#writeOther());
      works.push(this.#import(open, randomRecords(this.#random), outcomes));
    }
    await Promise.all(works);
    this.#checkContent();
    // The next import of this kind makes its index anew.
    if (this.#random() < 0.3) this.close();
  }

  close(): void {
    for (const { bookImport } of this.#imports.values()) bookImport.close();
    this.#imports.clear();
  }

  async #open(mode: MatchMode, outcomes: Set<string>): Promise<OpenImport> {
    const name = JSON.stringify(mode);
    const earlier = this.#imports.get(name);
    if (earlier !== undefined) return earlier;
    const bookImport = await this.#catalog.openImport(mode);
    const open = { bookImport, naive: { mode, marks: new Set<string>() } };
    this.#imports.set(name, open);
    // Later batches do not wait for an index, so that all writes come in the order of the calls.
    await this.#import(open, RECORDS_WITH_EACH_KEY, outcomes);
    return open;
  }

  async #import(
    { bookImport, naive }: OpenImport, records: readonly ImportRecord[], outcomes: Set<string>,
  ): Promise<void> {
    const newIds = records.map(({ id }) => id ?? numberedId(this.#naiveIdCount += 1));
    const expected = records.map(({ id, fields }, index) =>
      this.#naive.import(naive, id, fields, newIds[index] ?? ''));
    const results = await bookImport.importBatch(records);
    assert.deepEqual(results.map((result, index) => toNaive(result, expected[index])), expected,
      this.#told);
    for (const result of results) {
      assert.equal('changes' in result, false, 'nobody asked for them');
      outcomes.add(result.outcome);
    }
  }

  /** The naive catalog does it too, on a copy of itself. */
  async #checkDryRun(mode: MatchMode): Promise<void> {
    const records = randomRecords(this.#random);
    const copy = new NaiveCatalog();
    const naive = { mode, marks: new Set<string>() };
    for (const [id, book] of this.#naive.books) copy.books.set(id, book);
    const dryRun = await this.#catalog.openImport({ ...mode, isDryRun: true });
    const [before, naiveBefore] = [this.#idCount, this.#naiveIdCount];
    const results = [...await dryRun.importBatch(records.slice(0, 2)),
      ...await dryRun.importBatch(records.slice(2))];
    dryRun.close();
    const expected = records.map(({ id, fields }, index) =>
      copy.import(naive, id, fields, `new-${index + 1}`).outcome);
    assert.deepEqual(results.map(({ outcome }) => outcome), expected, this.#told);
    assert.deepEqual([this.#idCount, this.#naiveIdCount], [before, naiveBefore]);
  }

  async #writeOther(): Promise<void> {
    const random = this.#random;
    const { books } = this.#naive;
    const id = [...books.keys()][below(random, books.size)];
    const kind = below(random, 3);
    if (kind === 0 || id === undefined) {
      const fields = randomFields(random);
      books.set(numberedId(this.#naiveIdCount += 1), fields);
      await this.#catalog.add(fields);
    } else if (kind === 1) {
      const isbn = pick(random, [...ISBNS, null]);
      const { isbn: _, ...members } = books.get(id) ?? {};
      books.set(id, isbn === null ? members : { ...members, isbn });
      await this.#catalog.patch(id, { isbn });
    } else {
      books.delete(id);
      for (const { naive } of this.#imports.values()) naive.marks.delete(id);
      await this.#catalog.remove(id);
    }
  }

  #checkContent(): void {
    const found = new Map<string, string>();
    for (const key of this.#catalog.ids()) {
      const bytes = this.#catalog.find(key)?.bytes;
      assert.ok(bytes !== undefined);
      const { id, createdAt: _, updatedAt: __, ...fields } = decodeRecord(bytes);
      found.set(String(id), toText(fields));
    }
    const expected = [...this.#naive.books].map(([id, book]) => [id, toText(book)] as const);
    assert.deepEqual(found, new Map(expected.sort(([left], [right]) => left < right ? -1 : 1)),
      this.#told);
  }
}

/** Where very many books match, some are named. */
function toNaive(result: ImportedBook, expected: NaiveOutcome | undefined): NaiveOutcome {
  if (result.outcome !== 'ambiguous') return { outcome: result.outcome, ids: [result.id ?? ''] };
  const ids = expected?.ids ?? [];
  const areSome = ids.length > NAMED_MAX && result.ids.length === NAMED_MAX
    && result.ids.every((id) => ids.includes(id));
  return { outcome: 'ambiguous', ids: areSome ? ids : result.ids };
}

function randomMode(random: Random): MatchMode {
  const matches = pick(random, [
    ['isbn'], ['title'], ['source'], [], ['isbn', 'source'], ['isbn', 'title'],
  ] as const);
  const onMatch = pick(random, ['skip', 'update', 'update', 'fill', 'replace'] as const);
  return {
    ...PLAIN_MODE, matches, onMatch,
    isSameIdLeftAlone: matches.length === 0 && onMatch === 'update' && random() < 0.5,
    source: matches.length === 0 ? null : pick(random, SOURCE_FORMATS),
  };
}

const RECORDS_WITH_EACH_KEY: readonly ImportRecord[] = [
  {
    id: OWN_IDS[0], title: 'Été', isbn: ISBNS[0],
    metadata: { source: { goodreads: { Id: '0' }, calibre: { Id: '0' }, jsonld: { Id: '0' } } },
  },
  { title: 'ete', authors: [{ name: 'Iris' }], isbn: ISBNS[1] },
].map((book) => parseImportRecord(book));

function randomRecords(random: Random): readonly ImportRecord[] {
  return Array.from({ length: 1 + below(random, 4) }, () => parseImportRecord({
    ...random() < 0.2 ? { id: pick(random, OWN_IDS) } : {}, ...randomFields(random),
  }));
}

function randomFields(random: Random): JsonObject {
  const maybe = (name: string, values: readonly (string | JsonObject)[]): JsonObject =>
    random() < 0.5 ? { [name]: pick(random, values) } : {};
  const sources = SOURCES.filter(() => random() < 0.4).map(([format, prefix]) => {
    const id = prefix === null ? String(below(random, 4)) : prefix + pick(random, OWN_IDS);
    return [format, { Id: id, ...maybe('Shelf', ['a', 'b']) }] as const;
  });
  return parseImportRecord({
    title: pick(random, ['Été', 'ete', 'The River', 'THE RIVER']),
    ...random() < 0.3 ? { authors: [{ name: pick(random, ['José', 'jose', 'Lem']) }] } : {},
    ...maybe('isbn', ISBNS), ...maybe('datePublished', ['1960', '1960-05', '1961']),
    ...maybe('publisher', ['P', 'Q']),
    ...maybe('reading', [{ rating: 4 }, { status: 'read', rating: 2 }, { shelves: ['a'] }]),
    ...sources.length > 0
      ? { metadata: { ...maybe('own', ['1', '2']), source: Object.fromEntries(sources) } } : {},
  }).fields;
}

function numberedId(number: number): string {
  return `018f2b7c-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

test('nodes of an engine that import the same file at once have each book once', async () => {
  const nodes = await openNodes();
  const records = Array.from({ length: 10 }, (_, batch) => Array.from({ length: 8 }, (__, index) =>
    parseImportRecord({ title: `Book ${batch * 6 + index}` })));
  const outcomes = await importOnAll(nodes, { ...PLAIN_MODE, matches: ['title'] }, records);
  assert.equal(outcomes.filter((outcome) => outcome === 'imported').length, 62);
  assert.equal(outcomes.filter((outcome) => outcome === 'unchanged').length, 2 * 80 - 62);
  assert.deepEqual(nodes.map(({ store }) => store.collection('books').size), [62, 62]);
  for (const { store } of nodes) await store.close();
});

test('nodes that import the same export of ours at once add no book, and update each once',
  async () => {
    const nodes = await openNodes();
    const ids = Array.from({ length: 40 }, (_, index) => numberedId(index));
    await importOnAll(nodes.slice(0, 1), PLAIN_MODE,
      [ids.map((id) => parseImportRecord({ id, title: 'A' }))]);
    const source = SOURCE_FORMATS.find(({ format }) => format === 'jsonld') ?? null;
    const batches = ids.map((id) => [parseImportRecord(
      { title: 'B', metadata: { source: { jsonld: { Id: `urn:uuid:${id}` } } } })]);
    const outcomes = await importOnAll(nodes, { ...PLAIN_MODE, matches: ['source'], source },
      batches);
    assert.deepEqual(outcomes.sort(), ['unchanged', 'updated'].flatMap((outcome) =>
      Array.from({ length: 40 }, () => outcome)));
    assert.deepEqual(nodes.map(({ store }) => store.collection('books').size), [40, 40]);
    for (const { store } of nodes) await store.close();
  });

type CatalogNode = { readonly store: Store; readonly catalog: Catalog };

async function openNodes(): Promise<readonly CatalogNode[]> {
  const engine = new SimulatedEngine();
  const stores = [await openSharedStore(engine, { number: 1, specs: SPECS }),
    await openSharedStore(engine, { number: 2, specs: SPECS })];
  return stores.map((store) => {
    const catalog = createCatalog({
      store, clock: systemClock, turns: createTurns(systemClock),
      makeId: createIdSource(systemClock),
    });
    return { store, catalog };
  });
}

/** Imports the same batches on each node, all under way at once; gives the outcomes of all. */
async function importOnAll(
  nodes: readonly CatalogNode[], mode: MatchMode, batches: readonly (readonly ImportRecord[])[],
): Promise<string[]> {
  const outcomes = await Promise.all(nodes.map(async ({ catalog }) => {
    const bookImport = await catalog.openImport(mode);
    const results = await Promise.all(batches.map((batch) => bookImport.importBatch(batch)));
    bookImport.close();
    return results.flat().map(({ outcome }) => outcome);
  }));
  return outcomes.flat();
}
