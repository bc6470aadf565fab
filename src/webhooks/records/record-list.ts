/**
 * A list of the stored records of a collection: their pages, their count and the walk of a search,
 * filtered by fields (fields.ts). What a filter names is looked up in columns, which the first such
 * list has built. A record that matches is decoded at once, in the same turn of the event loop.
 */
import { findCommitted } from '../../store/find-record.ts';
import type { Collection, FindRecord, Store } from '../../store/store-port.ts';
import { RecordColumns, matchNone, type RecordColumn, type SlotTest } from './columns.ts';
import { createRecordTest, listCriteria, listFields, type RecordFields } from './fields.ts';
import { countInSteps, visitInSteps } from './stepped-scan.ts';

type Page<Item> = {
  /** The id behind which the page begins; null: at the beginning of the list. */
  readonly after: string | null;
  readonly limit: number;
  readonly isNewestFirst: boolean;
  readonly decode: (record: Buffer, id: string) => Item;
};

type Options<Filter> = {
  /** Records for which this is false are not in the list. */
  readonly isListed?: (record: Buffer) => boolean;
  /** Tests of slots for the fields without columns. */
  readonly slotTests?: {
    readonly [Name in keyof Filter]?: (criterion: NonNullable<Filter[Name]>) => SlotTest;
  };
  /** Whether the columns lack what a filter names, so that the records themselves are read. */
  readonly needsRecords?: (filter: Filter) => boolean;
};

export class RecordList<Filter> {
  readonly #records: Collection;
  readonly #find: FindRecord;
  readonly #fields: RecordFields<Filter>;
  readonly #options: Options<Filter>;
  readonly #columnOf: ReadonlyMap<keyof Filter, RecordColumn<unknown>>;
  readonly #columns: RecordColumns;

  constructor(
    store: Pick<Store, 'collection'>, collection: string, fields: RecordFields<Filter>,
    options: Options<Filter> = {},
  ) {
    this.#records = store.collection(collection);
    this.#find = findCommitted(store);
    this.#fields = fields;
    this.#options = options;
    const rows = listFields(fields).flatMap(([name, { createColumn, isChanging }]) =>
      createColumn === null ? [] : [{
        name, isChanging, column: createColumn(this.#records, this.#find),
      }]);
    this.#columnOf = new Map(rows.map(({ name, column }) => [name, column]));
    const { isListed } = options;
    this.#columns = new RecordColumns(this.#records, rows.map(({ column }) => column), {
      changingColumns: rows.filter((row) => row.isChanging).map(({ column }) => column),
      ...isListed === undefined ? {} : { isListed },
    });
  }

  close(): void {
    this.#columns.close();
  }

  /** Enters a record anew, because a field has changed without a change of the record. */
  refresh(id: string): void {
    this.#columns.refresh(this.#records.findSlot(id));
  }

  /** Lists up to `limit` records that match. */
  async page<Item>(
    filter: Filter, { after, limit, isNewestFirst, decode }: Page<Item>,
  ): Promise<Item[]> {
    const page: Item[] = [];
    const matches = await this.matcher(filter);
    if (matches === null) return page;
    await visitInSteps(this.#records, (record, slot) => {
      if (!matches(slot)) return 'passed';
      page.push(decode(record, this.#records.idAt(slot) ?? ''));
      return page.length < limit ? 'parsed' : 'done';
    }, after, isNewestFirst);
    return page;
  }

  /** Counts the records that match, on all pages, as they are at one moment. */
  async count(filter: Filter): Promise<number> {
    const { needsRecords, isListed } = this.#options;
    if (needsRecords?.(filter) === true) return this.#countRecords(filter);
    const hasCriteria = listCriteria(this.#fields, filter).length > 0;
    if (!hasCriteria && isListed === undefined) return this.#records.size;
    const matches = await this.matcher(filter);
    if (!hasCriteria) return this.#columns.count;
    let count = 0;
    for (let slot = 0; matches !== null && slot < this.#records.slotBound; slot += 1) {
      if (matches(slot)) count += 1;
    }
    return count;
  }

  /**
   * Makes the test of slots for a filter, which holds for as long as the list is open; null: no
   * record matches.
   */
  async matcher(filter: Filter): Promise<SlotTest | null> {
    const { needsRecords, isListed, slotTests } = this.#options;
    if (needsRecords?.(filter) === true) return this.#createRecordMatcher(filter);
    const criteria = listCriteria(this.#fields, filter);
    if (criteria.length === 0 && isListed === undefined) return () => true;
    await this.#columns.whenBuilt();
    return this.#columns.createMatcher(criteria.map(([name, , criterion]) => {
      const createTest = slotTests?.[name] as ((value: unknown) => SlotTest) | undefined;
      return createTest?.(criterion) ?? this.#columnOf.get(name)?.createTest(criterion)
        ?? matchNone;
    }));
  }

  #createRecordMatcher(filter: Filter): SlotTest {
    const isMet = createRecordTest(this.#fields, filter);
    return (slot) => {
      const record = this.#records.bytesAt(slot);
      return record !== undefined && isMet(record, this.#records.idAt(slot) ?? '', this.#find);
    };
  }

  #countRecords(filter: Filter): Promise<number> {
    const isMet = createRecordTest(this.#fields, filter);
    let count = 0;
    return countInSteps(this.#records, (record, by, id) => {
      if (isMet(record, id, this.#find)) count += by;
    }, () => count);
  }
}
