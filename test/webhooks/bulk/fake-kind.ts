/** A kind of job over records of its own: each is counted up once by a job that means it. */
import { AppError } from '../../../src/base/errors.ts';
import type { JsonObject } from '../../../src/base/schema.ts';
import type { CollectionSpec, Store, Transaction } from '../../../src/store/store-port.ts';
import type { JobCounts } from '../../../src/webhooks/bulk/job.ts';
import type { JobKind, RecordSelection } from '../../../src/webhooks/bulk/job-kind.ts';
import { createSelection } from '../../../src/webhooks/bulk/record-selection.ts';

export const THINGS: CollectionSpec = { name: 'things', key: 'id' };

export type Thing = {
  readonly id: string; readonly colour: string; readonly times: number; readonly text?: string;
};

/** What may be in the way; a test changes it while a job runs. */
export class Trouble {
  /** Things that one transaction has room for. */
  room = Infinity;
  /** Ids with which it cannot be done. */
  readonly refused = new Set<string>();
  /** Ids that make it fail with a bug. */
  readonly broken = new Set<string>();
  /** Called in each transaction, which may run twice, with the number of things. */
  onStage: (count: number) => void = () => {};
}

export function createCountUp(store: Store, trouble = new Trouble()): JobKind {
  const things = store.collection(THINGS.name);
  return {
    select: ({ colour }: JsonObject): RecordSelection => {
      const isMeant = (thing: Thing | null): thing is Thing =>
        thing !== null && (colour === undefined || thing.colour === colour);
      return {
        ...createSelection(things, (bytes) => isMeant(parse(bytes))),
        stage(transaction, ids) {
          trouble.onStage(ids.length);
          if (ids.length > trouble.room) throw new AppError('unavailable', 'there is no room');
          return stageAll(transaction, ids, isMeant, trouble);
        },
      };
    },
  };
}

function stageAll(
  transaction: Transaction, ids: readonly string[], isMeant: (thing: Thing | null) => boolean,
  trouble: Trouble,
): JobCounts {
  let [done, failed] = [0, 0];
  for (const id of ids) {
    const thing = parse(transaction.find(THINGS.name, id));
    if (thing === null || !isMeant(thing)) continue;
    if (trouble.broken.has(id)) throw new TypeError('a bug');
    if (trouble.refused.has(id)) {
      failed += 1;
      continue;
    }
    putThing(transaction, { ...thing, times: thing.times + 1 });
    done += 1;
  }
  return { done, failed };
}

export function putThing(transaction: Transaction, thing: Thing): void {
  transaction.put(THINGS.name, thing.id, JSON.stringify(thing));
}

export async function addThings(
  store: Store, count: number, { first = 0, colour = 'red', text = '' } = {},
): Promise<void> {
  await store.transact((transaction) => {
    for (let index = first; index < first + count; index += 1) {
      putThing(transaction, { id: idOf(index), colour, times: 0, text });
    }
  });
}

export function idOf(index: number): string {
  return `t${String(index).padStart(6, '0')}`;
}

export function thingsIn(store: Store): Thing[] {
  const things = store.collection(THINGS.name);
  const walk = things.walk();
  const found: Thing[] = [];
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const thing = parse(things.bytesAt(slot));
    if (thing !== null) found.push(thing);
  }
  return found;
}

function parse(bytes: Buffer | undefined): Thing | null {
  return bytes === undefined ? null : JSON.parse(bytes.toString()) as Thing;
}
