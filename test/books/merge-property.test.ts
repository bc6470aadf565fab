/** Random merges among other writes and imports, beside a naive catalog. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import type { JsonObject, JsonValue } from '../../src/base/schema.ts';
import { createTurns } from '../../src/base/turns.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import { createCatalog } from '../../src/books/catalog.ts';
import type { Catalog } from '../../src/books/catalog.ts';
import { parseImportRecord } from '../../src/books/transfer/import-record.ts';
import { GOODREADS, PLAIN_MODE } from '../support/import-mode.ts';
import { IS_LONG } from '../support/long.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { pick } from '../support/random-books.ts';
import { below, createRandom } from '../support/random.ts';
import type { Random } from '../support/random.ts';

const SEEDS = IS_LONG ? 300 : 10;
const STEPS = 120;
const MEMBERS = ['title', 'subtitle', 'isbn', 'keywords', 'series', 'metadata', 'description'];
const READING_MEMBERS = ['status', 'rating', 'startedOn', 'finishedOn', 'shelves'];
const NAMES = [...MEMBERS, 'reading', ...READING_MEMBERS.map((name) => `reading.${name}`)];
const FORMATS = { goodreads: 'Book Id', calibre: 'uuid', jsonld: '@id' } as const;
const SKIP_MODE = { ...PLAIN_MODE, onMatch: 'skip' } as const;

type NaiveBook = { readonly members: JsonObject; readonly mergedIds: readonly string[] };
type Naive = Map<string, NaiveBook>;

test('merges and what imports make of their ids are as a naive catalog has them', async () => {
  const outcomes = new Map<string, number>();
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const run = new MergeRun(createRandom(seed), `seed ${seed}`);
    for (let step = 0; step < STEPS; step += 1) {
      const outcome = await run.playStep();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  }
  assert.deepEqual([...outcomes.keys()].sort(), ['added', 'ambiguous', 'changed', 'exists',
    'imported', 'invalid', 'merged', 'not_found', 'removed', 'unchanged']);
});

class MergeRun {
  readonly #random: Random;
  readonly #told: string;
  readonly #catalog: Catalog;
  readonly #naive: Naive = new Map();
  /** All ids that there have been. */
  readonly #ids: string[] = [];

  constructor(random: Random, told: string) {
    this.#random = random;
    this.#told = told;
    this.#catalog = createCatalog({
      store: createMemoryStore([bookResource.collection]), turns: createTurns(systemClock),
      clock: { now: () => 0 }, makeId: () => this.#makeId(),
    });
  }

  async playStep(): Promise<string> {
    const kind = below(this.#random, 10);
    const outcome = await this.#play(kind);
    const books = [...this.#catalog.ids()].map((id) => {
      const { id: _, createdAt, updatedAt, mergedIds = [], ...members } =
        JSON.parse(String(this.#catalog.find(id)?.bytes));
      return [id, { members, mergedIds }];
    });
    const expected = [...this.#naive].sort(([left], [right]) => left < right ? -1 : 1);
    assert.deepEqual(books, expected, this.#told);
    return outcome;
  }

  async #play(kind: number): Promise<string> {
    if (kind < 2 || this.#naive.size < 3) return this.#add();
    if (kind < 6) return this.#merge();
    if (kind < 7) return this.#import(null);
    if (kind < 8) return this.#import('goodreads');
    return this.#change();
  }

  async #add(): Promise<string> {
    const members = randomBook(this.#random);
    const { id } = await this.#catalog.add(members);
    this.#naive.set(id, { members, mergedIds: [] });
    return 'added';
  }

  async #merge(): Promise<string> {
    const [id, from] = [pick(this.#random, this.#ids), pick(this.#random, this.#ids)];
    const names = NAMES.filter(() => this.#random() < 0.3);
    const isUnited = this.#random() < 0.4;
    const expected = mergeNaively(this.#naive, id, from, { names, isUnited });
    try {
      await this.#catalog.merge({ id, body: {
        from, members: names, ...isUnited ? { combine: ['metadata'] } : {},
      } });
      assert.ok(typeof expected !== 'string', `${this.#told}: ${String(expected)}`);
      this.#naive.set(id, expected);
      this.#naive.delete(from);
      return 'merged';
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      assert.equal(thrown.code, expected, this.#told);
      return thrown.code;
    }
  }

  /** A record of our own format, or of another program, with an id that there has been. */
  async #import(format: 'goodreads' | null): Promise<string> {
    const ownId = String(below(this.#random, 12));
    const id = format === null ? pick(this.#random, this.#ids) : null;
    const members = {
      title: 'Imported', authors: [],
      ...format === null ? {} : { metadata: { source: { goodreads: { 'Book Id': ownId } } } },
    };
    const mode = format === null ? SKIP_MODE
      : { ...SKIP_MODE, matches: ['source'] as const, source: GOODREADS };
    const isDryRun = this.#random() < 0.3;
    const bookImport = await this.#catalog.openImport({ ...mode, isDryRun });
    const record = parseImportRecord({ ...id === null ? {} : { id }, ...members });
    const [result] = await bookImport.importBatch([record]);
    bookImport.close();
    const merged = id ?? `goodreads:${ownId}`;
    const matches = [...this.#naive].filter(([other, book]) => id === null
      ? readOwnId(book.members, 'goodreads') === ownId : other === id);
    const isMerged = [...this.#naive.values()].some(({ mergedIds }) => mergedIds.includes(merged));
    assert.equal(result?.outcome, expectOutcome(matches.length, isMerged, id !== null), this.#told);
    if (result?.outcome === 'imported' && !isDryRun) {
      this.#naive.set(String(result.id), { members, mergedIds: [] });
    }
    return String(result?.outcome);
  }

  async #change(): Promise<string> {
    const id = pick(this.#random, [...this.#naive.keys()]);
    if (this.#random() < 0.2) {
      await this.#catalog.remove(id);
      this.#naive.delete(id);
      return 'removed';
    }
    const members = randomBook(this.#random);
    await this.#catalog.replace(id, members);
    this.#naive.set(id, { members, mergedIds: this.#naive.get(id)?.mergedIds ?? [] });
    return 'changed';
  }

  #makeId(): string {
    const number = String(this.#ids.length).padStart(12, '0');
    this.#ids.push(`018f2b7c-0000-7000-8000-${number}`);
    return this.#ids.at(-1) ?? '';
  }
}

/** A live book of the id comes before a merged one, and that before a match. */
function expectOutcome(matchCount: number, isMerged: boolean, isById: boolean): string {
  if (isById && matchCount > 0) return 'exists';
  if (isMerged) return 'unchanged';
  if (matchCount === 0) return 'imported';
  return matchCount > 1 ? 'ambiguous' : 'exists';
}

/** The merged book, or the code of the error. */
function mergeNaively(
  naive: Naive, id: string, from: string,
  { names, isUnited }: { readonly names: readonly string[]; readonly isUnited: boolean },
): NaiveBook | string {
  const [book, other] = [naive.get(id), naive.get(from)];
  if (book === undefined) return 'not_found';
  if (other === undefined || id === from) return 'invalid';
  const members: Record<string, JsonValue> = {};
  const reading: Record<string, JsonValue> = {};
  for (const name of ['authors', ...MEMBERS]) {
    const isNamed = names.includes(name) && !(isUnited && name === 'metadata');
    const value = (isNamed ? other : book).members[name];
    if (value !== undefined) members[name] = value;
  }
  for (const name of READING_MEMBERS) {
    const isNamed = names.includes('reading') || names.includes(`reading.${name}`);
    const value = toObject((isNamed ? other : book).members['reading'])[name];
    if (value !== undefined) reading[name] = value;
  }
  if (Object.keys(reading).length > 0) members['reading'] = reading;
  if (String(reading['finishedOn'] ?? '9') < String(reading['startedOn'] ?? '')) return 'invalid';
  const metadata = toObject(members['metadata']);
  const added = { ...toObject(toObject(other.members['metadata'])['source']),
    ...toObject(metadata['source']) };
  if (Object.keys(added).length > 0) members['metadata'] = { ...metadata, source: added };
  if (isUnited) uniteNaively(members, book.members, other.members, from);
  const lost = names.includes('metadata') && !isUnited ? listOwnIds(book.members) : [];
  const sources = Object.keys(toObject(toObject(book.members['metadata'])['source']));
  const mergedIds = new Set([
    ...book.mergedIds, from, ...other.mergedIds, ...listOwnIds(other.members)
      .filter((ownId) => !isUnited || sources.includes(ownId.split(':')[0] ?? '')), ...lost]);
  mergedIds.delete(id);
  return { members, mergedIds: [...mergedIds] };
}

/** Adds the other book's names to `members`, and what either book has otherwise to its source. */
function uniteNaively(
  members: Record<string, JsonValue>, book: JsonObject, other: JsonObject, from: string,
): void {
  const [metadata, others] = [toObject(members['metadata']), toObject(other['metadata'])];
  const united: Record<string, JsonValue> = { ...others, ...metadata };
  const source: Record<string, JsonValue> = { ...toObject(united['source']) };
  if (Object.keys(source).length > 0) united['source'] = source;
  const values = nameValues({ ...members, metadata: united });
  const dropped = (before: JsonObject): JsonObject =>
    Object.fromEntries([...nameValues(before)].filter(([name, value]) =>
      !isWithinNaively(value, values.get(name))));
  const keep = (key: string, added: JsonObject): void => {
    if (Object.keys(added).length === 0) return;
    const fields = toObject(source[key]);
    source[key] = { ...fields, members: { ...toObject(fields['members']), ...added } };
    united['source'] = source;
  };
  const [ofOther, ofBook] = [dropped(other), dropped(book)];
  keep(from, ofOther);
  keep('here', ofBook);
  if (Object.keys(united).length > 0) members['metadata'] = united;
}

function nameValues(book: JsonObject): ReadonlyMap<string, JsonValue> {
  const { metadata, reading, authors, ...members } = book;
  const { source, ...others } = toObject(metadata);
  const prefix = (name: string, object: JsonValue | undefined): [string, JsonValue][] =>
    Object.entries(toObject(object)).map(([key, value]) => [`${name}.${key}`, value]);
  return new Map([
    ...Object.entries(members), ...prefix('reading', reading), ...prefix('metadata', others),
    ...Object.entries(toObject(source)).flatMap(([format, fields]) =>
      prefix(`metadata.source.${format}`, fields)),
  ]);
}

function isWithinNaively(value: JsonValue, other: JsonValue | undefined): boolean {
  if (isDeepStrictEqual(value, other)) return true;
  const entries = Object.entries(toObject(value));
  return entries.length > 0 && typeof other === 'object'
    && entries.every(([name, member]) => isDeepStrictEqual(member, toObject(other)[name]));
}

function listOwnIds(members: JsonObject): readonly string[] {
  return ['jsonld', 'goodreads', 'calibre'].flatMap((format) => {
    const ownId = readOwnId(members, format);
    return ownId === undefined ? [] : [`${format}:${ownId}`];
  });
}

function readOwnId(members: JsonObject, format: string): string | undefined {
  const fields = toObject(toObject(toObject(members['metadata'])['source'])[format]);
  const [ownId] = Object.values(fields);
  return ownId === undefined ? undefined : String(ownId);
}

/** A book that the model takes; dates are years, so that some contradict each other. */
function randomBook(random: Random): JsonObject {
  const maybe = (name: string, make: () => JsonValue): JsonObject =>
    random() < 0.5 ? { [name]: make() } : {};
  const reading = {
    ...maybe('status', () => pick(random, ['read', 'to-read'])),
    ...maybe('rating', () => 1 + below(random, 5)),
    ...random() < 0.5 ? maybe('startedOn', () => String(2020 + below(random, 2)))
      : maybe('finishedOn', () => String(2019 + below(random, 2))),
    ...maybe('shelves', () => [pick(random, ['own', 'lent'])]),
  };
  const source = Object.fromEntries(Object.entries(FORMATS).flatMap(([format, field]) =>
    random() < 0.3 ? [[format, { [field]: String(below(random, 12)) }]] : []));
  const metadata = {
    ...maybe('note', () => below(random, 9)), ...Object.keys(source).length > 0 ? { source } : {},
  };
  return {
    title: `T${below(random, 9)}`,
    ...maybe('subtitle', () => `S${below(random, 9)}`),
    authors: [],
    ...maybe('isbn', () => '9780441172719'),
    ...maybe('keywords', () => [`k${below(random, 9)}`]),
    ...maybe('series', () => [{ name: `s${below(random, 9)}` }]),
    ...Object.keys(reading).length > 0 ? { reading } : {},
    ...maybe('description', () => `D${below(random, 9)}`),
    ...Object.keys(metadata).length > 0 ? { metadata } : {},
  };
}

function toObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as JsonObject : {};
}
