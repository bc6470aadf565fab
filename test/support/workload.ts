/**
 * A seeded workload of mixed transactions, and the model that says what a store must hold after
 * any of them. Every transaction that writes also leaves a numbered mark, so that what a crash left
 * names the transactions it holds and their order.
 */
import assert from 'node:assert/strict';
import { StoredCollection } from '../../src/store/records/collection.ts';
import { AppError } from '../../src/base/errors.ts';
import type {
  CollectionSpec, Operation, Store, StoredRecord, Transaction,
} from '../../src/store/store-port.ts';
import { below, createRandom, type Random } from './random.ts';

export const COLLECTIONS: readonly CollectionSpec[] = [
  { name: 'books', key: 'id' },
  { name: 'hooks', key: 'identifier', unique: ['slug'], imply: implyOwner },
  { name: 'marks', key: 'id' },
];

export type Step = {
  readonly name: string;
  readonly prepare: (transaction: Transaction) => void;
};

/**
 * How a step ended: `seenAt` is the count of operations when readers saw it or its writer was
 * answered, whichever came first.
 */
export type Outcome = {
  readonly step: Step;
  readonly seenAt: number;
  readonly error: unknown;
};

/** All records of a store, as text, by collection. */
export type Content = Readonly<Record<string, readonly string[]>>;

const LAST_MARK = 'last';
const BOOKS = 6;
const SLUGS = 3;

export function createSteps(seed: number, count: number, prefix = 't'): Step[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const name = `${prefix}${index}`;
    return { name, prepare: createPrepare(name, random) };
  });
}

/** Runs the steps, `together` at a time, and says how each ended. */
export async function runSteps(
  store: Store, steps: readonly Step[], together: number, operations: () => number,
): Promise<Outcome[]> {
  const seen = new Map<string, number>();
  const end = store.collection('marks').onChange(({ id }) => {
    seen.set(id, operations());
  });
  const outcomes: Outcome[] = [];
  for (let start = 0; start < steps.length; start += together) {
    await Promise.all(steps.slice(start, start + together).map(async (step) => {
      const error = await store.transact(step.prepare)
        .then(() => null, (thrown: unknown) => thrown);
      outcomes.push({ step, seenAt: seen.get(step.name) ?? operations(), error });
    }));
  }
  end();
  return outcomes;
}

/**
 * Asserts that the store holds exactly a run of whole transactions, among them every one that was
 * seen by operation `index` and none that was refused. Returns what it holds.
 */
export function checkHolds(store: Store, outcomes: readonly Outcome[], index: number): Content {
  const content = contentOf(store);
  const held = heldSteps(content);
  const steps = new Map(outcomes.map(({ step }) => [step.name, step]));
  const model = new Model();
  for (const name of held) {
    const step = steps.get(name);
    assert.ok(step, `${name} is known`);
    model.run(step.prepare);
  }
  assert.deepEqual(content, model.content());
  for (const { step, seenAt, error } of outcomes) {
    const isHeld = held.includes(step.name);
    if (error === null && seenAt <= index && leavesMark(step)) {
      assert.ok(isHeld, `${step.name} was acknowledged and is lost`);
    }
    if (isRefusedBy(error, seenAt <= index)) {
      assert.ok(!isHeld, `${step.name} was refused and is there`);
    }
  }
  return content;
}

/** The content of a store, read through every way of finding a record. */
export function contentOf(store: Store): Content {
  return Object.fromEntries(COLLECTIONS.map((spec) => {
    const collection = store.collection(spec.name);
    const walk = collection.walk();
    const lines: string[] = [];
    for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
      const line = collection.bytesAt(slot)?.toString() ?? '';
      const record: unknown = JSON.parse(line);
      const id = memberOf(record, spec.key);
      assert.equal(collection.find(id)?.bytes.toString(), line);
      for (const member of spec.unique ?? []) {
        if (!(collection instanceof StoredCollection)) continue;
        assert.equal(collection.unique.findId(memberOf(record, member)), id);
      }
      lines.push(line);
    }
    assert.equal(collection.size, lines.length, `size of ${spec.name}`);
    return [spec.name, lines];
  }));
}

/** The names of the transactions in it, in the order of their commits. */
export function heldSteps(content: Content): string[] {
  const marks = (content.marks ?? []).map((line): unknown => JSON.parse(line))
    .map((mark) => ({ name: memberOf(mark, 'id'), order: Number(memberOf(mark, 'order')) }))
    .filter(({ name }) => name !== LAST_MARK)
    .sort((left, right) => left.order - right.order);
  marks.forEach(({ name, order }, index) => assert.equal(order, index + 1, `order of ${name}`));
  return marks.map(({ name }) => name);
}

/** Whether the transaction is surely not there: it was never written, or its writer was told so. */
export function isRefusedBy(error: unknown, wasTold: boolean): boolean {
  if (error === null) return false;
  assert.ok(error instanceof AppError, String(error));
  if (error.code === 'conflict' || error.code === 'precondition_failed') return true;
  return wasTold && error.code !== 'unknown_outcome';
}

function leavesMark(step: Step): boolean {
  return !step.name.endsWith('-reads');
}

function memberOf(record: unknown, name: string): string {
  assert.ok(typeof record === 'object' && record !== null);
  return String(Object.entries(record).find(([member]) => member === name)?.[1]);
}

/** What a step does is drawn now, so that `prepare` does the same however often it runs. */
function createPrepare(name: string, random: Random): Step['prepare'] {
  const kind = below(random, 10);
  const book = `b${below(random, BOOKS)}`;
  const slug = `s${below(random, SLUGS)}`;
  const text = `${name} é漢 "\\${'x'.repeat(below(random, 60))}`;
  const putBook = (transaction: Transaction): void => {
    transaction.put('books', book, JSON.stringify({ id: book, text }));
  };
  const putHook = (transaction: Transaction): void => {
    transaction.put('hooks', `h-${name}`, JSON.stringify({ identifier: `h-${name}`, slug }));
    transaction.put('books', slug, JSON.stringify({ id: slug, owner: `h-${name}` }), true);
  };
  if (kind < 5) return marked(name, putBook);
  if (kind < 7) return marked(name, (transaction) => {
    transaction.delete('books', book);
  });
  if (kind < 8) return marked(name, (transaction) => {
    putBook(transaction);
    throw new AppError('precondition_failed', 'refused after it staged something');
  });
  // Refused with `conflict` while the slug is taken.
  if (kind < 9) return marked(name, putHook);
  return marked(name, (transaction) => {
    const book = transaction.find('books', slug);
    if (book !== undefined) {
      transaction.delete('hooks', memberOf(JSON.parse(book.toString()), 'owner'));
    }
    putBook(transaction);
    putHook(transaction);
  });
}

/** The record that says whose a slug is follows from that of its holder. */
function implyOwner(hook: Buffer): Operation[] {
  const { identifier: owner, slug: id } = JSON.parse(String(hook));
  return [{ collection: 'books', id, bytes: Buffer.from(JSON.stringify({ id, owner })) }];
}

/** `change`, and one more mark in the same transaction. */
export function marked(name: string, change: Step['prepare']): Step['prepare'] {
  return (transaction) => {
    const last = transaction.find('marks', LAST_MARK);
    const order = last === undefined
      ? 1 : Number(memberOf(JSON.parse(last.toString()), 'order')) + 1;
    transaction.put('marks', name, JSON.stringify({ id: name, order }));
    change(transaction);
    transaction.put('marks', LAST_MARK, JSON.stringify({ id: LAST_MARK, order }));
  };
}

/** The simplest thing that could hold the records. */
class Model {
  #records = new Map(COLLECTIONS.map(({ name }) => [name, new Map<string, string>()]));

  run(prepare: Step['prepare']): void {
    prepare({
      find: (name, id) => bufferOf(this.#of(name).get(id)),
      findId: (name, id) => this.#of(name).has(id) ? id : undefined,
      listIds: (name) => [...this.#of(name).keys()].sort(),
      listStaged: () => [],
      put: (name, id, json): StoredRecord => {
        this.#of(name).set(id, json.toString());
        return { bytes: Buffer.from(json), representation: undefined };
      },
      delete: (name, id) => this.#of(name).delete(id),
      listRemoved: () => [],
      reserve() {},
      countReserved: () => 0,
    });
  }

  content(): Content {
    const linesOf = (records: ReadonlyMap<string, string>): string[] =>
      [...records].sort(([left], [right]) => left < right ? -1 : 1).map(([, line]) => line);
    return Object.fromEntries([...this.#records].map(([name, records]) =>
      [name, linesOf(records)]));
  }

  #of(name: string): Map<string, string> {
    return this.#records.get(name) ?? new Map();
  }
}

function bufferOf(line: string | undefined): Buffer | undefined {
  return line === undefined ? undefined : Buffer.from(line);
}
