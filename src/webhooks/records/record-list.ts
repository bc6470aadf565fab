/**
 * A list of the stored records of a collection: their pages, their count and the walk of a search,
 * filtered by fields (fields.ts). What a filter names is looked up in columns, which the first such
 * list has built. Where a column knows the records of a filter, and they are few, no other is
 * looked at. A record that matches is decoded at once, in the same turn of the event loop.
 */
import { assert } from '../../base/assert.ts';
import type { Collection, Store } from '../../store/store-port.ts';
import { RecordColumns, type DecodeListed, type RecordColumn, type SlotTest } from './columns.ts';
import { createFieldTest, listCriteria, fieldEntries, type RecordFields } from './fields.ts';
import { countInSteps, visitInSteps, type SlotIterator } from './stepped-scan.ts';

/** To put so many records in order takes about two milliseconds. */
const FEW_MAX = 4096;
/** Above this share of all records, a page of those that match is found sooner by a walk. */
const FEW_SHARE = 1 / 8;

/** The records that match a filter, from a place of the list on. */
export type RecordMatches = {
  readonly matches: SlotTest;
  /** Goes over the slots of those that match, and maybe of others. */
  readonly walk: SlotIterator;
};

export const NO_MATCHES: RecordMatches = { matches: () => false, walk: { next: () => -1 } };

type Page<PageItem> = {
  /** The id behind which the page begins; null: at the beginning of the list. */
  readonly after: string | null;
  readonly limit: number;
  readonly isNewestFirst: boolean;
  readonly decode: (record: Buffer, id: string) => PageItem;
};

type Options<Item, Filter> = {
  readonly fields: RecordFields<Item, Filter>;
  readonly decode: DecodeListed<Item>;
  /** Whether `decode` gives null for some records. */
  readonly hasUnlisted?: boolean;
  /** Tests of slots for the fields without columns. */
  readonly slotTests?: {
    readonly [Name in keyof Filter]?: (criterion: NonNullable<Filter[Name]>) => SlotTest;
  };
  /** Whether the columns lack what a filter names, so that the records themselves are read. */
  readonly needsRecords?: (filter: Filter) => boolean;
};

export class RecordList<Item, Filter> {
  readonly #records: Collection;
  readonly #options: Options<Item, Filter>;
  readonly #columnOf: ReadonlyMap<keyof Filter, RecordColumn<Item, unknown>>;
  readonly #columns: RecordColumns<Item>;

  constructor(
    store: Pick<Store, 'collection'>, collection: string, options: Options<Item, Filter>,
  ) {
    this.#records = store.collection(collection);
    this.#options = options;
    const itemAt = (slot: number): Item | null => this.#itemAt(slot);
    const rows = fieldEntries(options.fields).flatMap(
      ([name, { createColumn, isChanging = false }]) =>
        createColumn === null ? [] : [{ name, isChanging, column: createColumn(itemAt) }]);
    this.#columnOf = new Map(rows.map(({ name, column }) => [name, column]));
    this.#columns = new RecordColumns(this.#records, options.decode, rows);
  }

  /** Reads the fields of a record again: one has changed without a change of the record. */
  refresh(id: string): void {
    this.#columns.refresh(this.#records.findSlot(id));
  }

  async page<PageItem>(
    filter: Filter, { after, limit, isNewestFirst, decode }: Page<PageItem>,
  ): Promise<PageItem[]> {
    const page: PageItem[] = [];
    const { matches, walk } = await this.select(filter, after, isNewestFirst);
    const costOfOthers = this.#options.needsRecords?.(filter) === true ? 'parsed' : 'passed';
    await visitInSteps(this.#records, (record, slot) => {
      if (!matches(slot)) return costOfOthers;
      page.push(decode(record, this.#records.idAt(slot) ?? ''));
      return page.length < limit ? 'parsed' : 'done';
    }, walk);
    return page;
  }

  /** Counts the records on all pages, as they are at one moment. */
  async count(filter: Filter): Promise<number> {
    const { fields, needsRecords, hasUnlisted = false } = this.#options;
    if (needsRecords?.(filter) === true) return this.#countRecords(filter);
    const hasCriteria = listCriteria(fields, filter).length > 0;
    if (!hasCriteria && !hasUnlisted) return this.#records.size;
    const matches = await this.#createMatcher(filter);
    if (!hasCriteria) return this.#columns.count;
    if (matches === null) return 0;
    const few = this.#listFew(filter);
    if (few !== null) return few.filter(matches).length;
    let count = 0;
    for (let slot = 0; slot < this.#records.slotBound; slot += 1) {
      if (matches(slot)) count += 1;
    }
    return count;
  }

  /** Selects the records behind the id `after`; null: from the beginning of the list. */
  async select(
    filter: Filter, after: string | null, isNewestFirst: boolean,
  ): Promise<RecordMatches> {
    const matches = await this.#createMatcher(filter);
    if (matches === null) return NO_MATCHES;
    const slots = this.#listFew(filter);
    const walk = slots === null ? this.#records.walk({ after, isDescending: isNewestFirst })
      : walkFew(this.#records, slots, after, isNewestFirst);
    return { matches, walk };
  }

  /** Lists the slots that may match where a column knows them, and they are few; else null. */
  #listFew(filter: Filter): readonly number[] | null {
    const { fields, needsRecords } = this.#options;
    if (needsRecords?.(filter) === true) return null;
    const max = Math.min(FEW_MAX, this.#records.size * FEW_SHARE);
    for (const [name, , criterion] of listCriteria(fields, filter)) {
      const slots = this.#columnOf.get(name)?.listSlots?.(criterion, max) ?? null;
      if (slots !== null) return slots;
    }
    return null;
  }

  /**
   * Makes the test of slots for a filter, which holds for as long as the list is open; null: no
   * record matches.
   */
  async #createMatcher(filter: Filter): Promise<SlotTest | null> {
    const { fields, needsRecords, hasUnlisted = false, slotTests } = this.#options;
    if (needsRecords?.(filter) === true) return this.#createRecordMatcher(filter);
    const criteria = listCriteria(fields, filter);
    if (criteria.length === 0 && !hasUnlisted) return () => true;
    await this.#columns.whenBuilt();
    return this.#columns.createMatcher(criteria.map(([name, , criterion]) => {
      const createTest = slotTests?.[name] as ((value: unknown) => SlotTest) | undefined;
      const test = createTest?.(criterion) ?? this.#columnOf.get(name)?.createTest(criterion);
      assert(test !== undefined, 'a field has neither a column nor a test of slots');
      return test;
    }));
  }

  #createRecordMatcher(filter: Filter): SlotTest {
    const isMet = createFieldTest(this.#options.fields, filter);
    return (slot) => {
      const item = this.#itemAt(slot);
      return item !== null && isMet(item);
    };
  }

  #countRecords(filter: Filter): Promise<number> {
    const { fields, decode } = this.#options;
    const isMet = createFieldTest(fields, filter);
    let count = 0;
    return countInSteps(this.#records, (record, by, id) => {
      const item = decode(record, id);
      if (item !== null && isMet(item)) count += by;
    }, () => count);
  }

  #itemAt(slot: number): Item | null {
    const record = this.#records.bytesAt(slot);
    return record === undefined ? null
      : this.#options.decode(record, this.#records.idAt(slot) ?? '');
  }
}

/** Walks over some slots in the order of their ids, without those whose record has gone. */
function walkFew(
  records: Collection, slots: readonly number[], after: string | null, isDescending: boolean,
): SlotIterator {
  const places = slots.map((slot) => ({ id: records.idAt(slot) ?? '', slot }))
    .filter(({ id }) => after === null || (isDescending ? id < after : id > after))
    .sort((left, right) => left.id < right.id ? -1 : 1);
  if (isDescending) places.reverse();
  let index = 0;
  return {
    next() {
      for (;;) {
        const place = places[index];
        if (place === undefined) return -1;
        index += 1;
        if (records.idAt(place.slot) === place.id) return place.slot;
      }
    },
  };
}
