/**
 * Random imports of several programs for one book, among edits by hand: an import that comes again
 * changes nothing, and what somebody set by hand is in the book, or kept beside.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { createTurns } from '../../../../src/base/turns.ts';
import { joinMembers } from '../../../../src/books/book-members.ts';
import { bookResource } from '../../../../src/books/book-resource.ts';
import { createCatalog } from '../../../../src/books/catalog.ts';
import type { Catalog } from '../../../../src/books/catalog.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import { nameMembers } from '../../../../src/books/transfer/matching/last-import.ts';
import type { OnMatch } from '../../../../src/books/transfer/matching/book-import.ts';
import { GOODREADS, PLAIN_MODE } from '../../../support/import-mode.ts';
import { IS_LONG } from '../../../support/long.ts';
import { createMemoryStore } from '../../../support/memory-store.ts';
import { pick } from '../../../support/random-books.ts';
import { below, createRandom } from '../../../support/random.ts';
import type { Random } from '../../../support/random.ts';

const SEEDS = IS_LONG ? 1000 : 60;
const STEPS = 12;
const ISBN = '9780439023481';
const FORMATS = ['goodreads', 'storygraph', 'openlibrary', 'csv'] as const;
const WAYS: readonly OnMatch[] = ['update', 'update', 'fill'];
const LISTS: readonly string[] = ['keywords', 'reading.shelves'];
/** What programs say; hands write other values. */
const SAID: Readonly<Record<string, readonly JsonValue[]>> = {
  'title': ['A', 'A: b', 'A : B'], 'subtitle': ['b'], 'publisher': ['P', 'Łódź', '?ód?'],
  'datePublished': ['1990', '1990-05', '2001'], 'description': ['d', 'e'],
  'keywords': [['sf'], ['sf', 'SF2'], ['x', 'y', 'z']],
  'series': [[{ name: 'S' }], [{ name: 's', position: 2 }]],
  'reading.status': ['read', 'to-read', 'reading'], 'reading.rating': [3, 4],
  'reading.startedOn': ['2020-01', '2021-02-03', '2023-01-01'],
  'reading.finishedOn': ['2020-02', '2021-03-04', '2021', '2024-01-01'],
  'reading.shelves': [['a'], ['a', 'b', 'c']], 'reading.review': ['Good.', 'Bad?'],
};

test('an import that comes again changes nothing, and nothing set by hand is lost', async () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const run = new HandRun(createRandom(seed), `seed ${seed}`);
    await run.start();
    for (let step = 0; step < STEPS; step += 1) {
      if (run.random() < 0.3) await run.edit();
      else await run.importAgain(pick(run.random, FORMATS), pick(run.random, WAYS));
    }
    // One after the other, they find what each of them has said.
    for (const format of FORMATS) await run.importNext(format, 'update', false);
    const bytes = run.readBytes();
    for (const format of FORMATS) await run.importNext(format, 'update', false);
    assert.equal(run.readBytes(), bytes, run.told);
  }
});

class HandRun {
  readonly random: Random;
  readonly told: string;
  readonly #catalog: Catalog;
  readonly #records = new Map<string, JsonObject>();
  /** The last value of each member that somebody set by hand. */
  readonly #handValues = new Map<string, JsonValue>();
  #id = '';
  #count = 0;

  constructor(random: Random, told: string) {
    this.random = random;
    this.told = told;
    this.#catalog = createCatalog({
      store: createMemoryStore([bookResource.collection]), turns: createTurns(systemClock),
      clock: { now: () => 0 }, makeId: () => '018f2b7c-0000-7000-8000-000000000001',
    });
  }

  async start(): Promise<void> {
    const { id } = await this.#catalog.add({ title: 'A', isbn: ISBN });
    this.#id = id;
  }

  readBytes(): string {
    return String(this.#catalog.find(this.#id)?.bytes);
  }

  async edit(): Promise<void> {
    const name = pick(this.random, Object.keys(SAID));
    const value = this.#createHandValue(name);
    try {
      await this.#catalog.patch(this.#id, joinMembers({ [name]: value }));
    } catch (thrown) {
      // Such as an end before the start.
      if (thrown instanceof AppError && thrown.code === 'invalid') return;
      throw thrown;
    }
    this.#handValues.set(name, value);
    this.#checkHandValues();
  }

  async importAgain(format: string, onMatch: OnMatch): Promise<void> {
    await this.importNext(format, onMatch, this.random() < 0.6);
    const bytes = this.readBytes();
    assert.equal(await this.importNext(format, onMatch, false), 'unchanged', this.told);
    assert.equal(this.readBytes(), bytes, this.told);
  }

  /** Imports the record that the format has, with `isChanged` a new one. */
  async importNext(format: string, onMatch: OnMatch, isChanged: boolean): Promise<string> {
    const record = isChanged ? this.#createRecord(format)
      : this.#records.get(format) ?? this.#createRecord(format);
    this.#records.set(format, record);
    const source = format === 'csv' ? null : { ...GOODREADS, format };
    const bookImport = await this.#catalog.openImport({
      ...PLAIN_MODE, matches: ['isbn'], onMatch, source, digestFormat: format,
      isSameIdLeftAlone: false,
    });
    const [result] = await bookImport.importBatch([parseImportRecord(record)]);
    bookImport.close();
    this.#checkHandValues();
    return result?.outcome ?? '';
  }

  #createRecord(format: string): JsonObject {
    const names = Object.keys(SAID).filter(() => this.random() < 0.5);
    const members = Object.fromEntries(
      names.map((name) => [name, pick(this.random, SAID[name] ?? [])]));
    const record = joinMembers({
      title: 'A', isbn: ISBN, ...members,
      ...format === 'csv' ? { metadata: { Shelf: pick(this.random, ['1', '2']) } }
        : { metadata: { source: { [format]: { 'Book Id': '7' } } } },
    });
    try {
      parseImportRecord(record);
      return record;
    } catch {
      return this.#createRecord(format);
    }
  }

  #createHandValue(name: string): JsonValue {
    const { random } = this;
    this.#count += 1;
    if (name === 'reading.status') return pick(random, ['paused', 'abandoned']);
    if (name === 'reading.rating') return pick(random, [0.5, 1.25, 2.75]);
    if (name.startsWith('reading.') && name.endsWith('On')) {
      return `202${below(random, 5)}-0${1 + below(random, 9)}-1${below(random, 10)}`;
    }
    if (name === 'datePublished') return `19${10 + below(random, 50)}`;
    if (name === 'series') return [{ name: `Mine ${this.#count}` }];
    if (!LISTS.includes(name)) return `mine ${this.#count}`;
    const list = [...asList(this.#readValues()[name])];
    list.splice(below(random, list.length + 1), 0, `mine ${this.#count}`);
    return list;
  }

  #readValues(): JsonObject {
    return nameMembers(JSON.parse(this.readBytes()));
  }

  #checkHandValues(): void {
    const book = JSON.parse(this.readBytes());
    const values = nameMembers(book);
    const beside = book.metadata?.source?.here?.members ?? {};
    for (const [name, value] of this.#handValues) {
      const places = [values[name], beside[name]];
      const isKept = LISTS.includes(name)
        ? asList(value).filter((item) => String(item).startsWith('mine')).every((item) =>
          places.some((list) => asList(list).includes(item)))
        : places.some((other) => JSON.stringify(other) === JSON.stringify(value));
      assert.ok(isKept, `${this.told}: ${name} ${JSON.stringify(value)} of ${this.readBytes()}`);
    }
  }
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
