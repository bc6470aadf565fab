/**
 * What clients saw of several nodes over one log: the material of the checker. It is gathered from
 * outside alone: requests, their answers, event streams, exports, and what a receiver of webhooks
 * was sent. Times are milliseconds of one monotonic clock, that of the test.
 *
 * Every put writes a token that no other write writes, so that a token names a version of a record.
 * Every replacement and deletion names the version that it is for (If-Match).
 */

export type Outcome = 'ok' | 'refused' | 'unknown';

/** Why a write was refused; `unavailable`: for a reason that is not in the records. */
export type Refusal = 'mismatch' | 'taken' | 'missing' | 'unavailable';

export type Write = {
  /** The node that was asked. */
  readonly node: string;
  readonly beginMs: number;
  /** Infinity where no answer came. */
  readonly endMs: number;
  readonly outcome: Outcome;
  /** Of a refused write. */
  readonly refusal: Refusal | null;
  readonly kind: 'create' | 'replace' | 'delete';
  /** Of the record. Null: a create whose answer, with the id, never came. */
  readonly key: string | null;
  /** Of a deletion: any text of its own. */
  readonly token: string;
  /** Token of the version that it replaces or deletes; null for a create. */
  readonly expected: string | null;
  /** What no two records may share; null where the record has none. A delete gives it back. */
  readonly name: string | null;
  /** By which it is in the log, as the answer said; null where it said nothing. */
  readonly sequence: number | null;
};

/** Records seen at one moment of one node. */
export type Read = {
  readonly node: string;
  readonly beginMs: number;
  readonly endMs: number;
  /** Token by key; null: it was not there. */
  readonly values: ReadonlyMap<string, string | null>;
  /** The sequence that was sent with it, up to which it has to be fresh. */
  readonly atLeast: number | null;
};

/** Everything that a node holds at one sequence. */
export type Image = {
  readonly node: string;
  readonly beginMs: number;
  readonly endMs: number;
  readonly sequence: number;
  readonly records: ReadonlyMap<string, { readonly token: string; readonly bytes: string }>;
};

export type Event = {
  readonly sequence: number;
  readonly key: string;
  /** Null: it was deleted. */
  readonly token: string | null;
  readonly bytes: string;
};

/** The changes that one reader of a node's event stream was told, as they came. */
export type Follower = {
  readonly node: string;
  /** It is told what comes after this. */
  readonly from: number;
  readonly events: readonly Event[];
};

/** One attempt of a delivery, as the receiver saw it. */
export type Attempt = {
  /** The same for all attempts of a delivery. */
  readonly delivery: string;
  /** The webhook that it is of. */
  readonly hook: string;
  /** Token of the write that it tells of. */
  readonly token: string;
  readonly beginMs: number;
  /** When it was answered, or its connection ended. */
  readonly endMs: number;
};

/** A client's wish that an event which has not begun never begins. */
export type Cancellation = Pick<Write, 'beginMs' | 'endMs' | 'outcome'> & {
  /** Of one that was refused; `begun`: it came too late. */
  readonly refusal: 'begun' | 'missing' | 'unavailable' | null;
};

/** An event that a client emitted, at once or to begin later. */
export type Emission = Pick<Write, 'node' | 'beginMs' | 'endMs' | 'outcome' | 'token'> & {
  /** Events of one key are told in the order in which they begin. */
  readonly key: string;
  readonly isDelayed: boolean;
  /** It begins within this span, but for the time that this takes. */
  readonly dueFromMs: number;
  readonly dueToMs: number;
  readonly cancellation: Cancellation | null;
};

/** What is kept of a delivery in the end. */
export type DeliveryRecord = {
  readonly delivery: string;
  readonly hook: string;
  /** The event's id, by which no two deliveries of one webhook may be. */
  readonly event: string;
  readonly isDelivered: boolean;
};

/**
 * A webhook that missed what was written before it was made, and was told of that by a backfill. It
 * was made after the begin of the span, and the backfill was acknowledged at its end.
 */
export type LateHook = {
  readonly hook: string; readonly beginMs: number; readonly endMs: number;
};

/** What the log says of a delivery after one of its changes, in the order of the log. */
export type DeliveryState = {
  readonly delivery: string;
  readonly sequence: number;
  readonly attempts: number;
  readonly isFinal: boolean;
};

export type Span = { readonly node: string; readonly beginMs: number; readonly endMs: number };

export type History = {
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
  readonly images: readonly Image[];
  readonly followers: readonly Follower[];
  readonly attempts: readonly Attempt[];
  readonly deliveries: readonly DeliveryState[];
  /** To which every acknowledged put was to be delivered, and had the time. */
  readonly hooks: readonly string[];
  /** Those of them that are told of the writes of one record in their order. */
  readonly orderedHooks: readonly string[];
  /** Those of them that were made in the midst. */
  readonly lateHooks: readonly LateHook[];
  readonly emissions: readonly Emission[];
  /** To which every emission was to be delivered that was not cancelled, and had the time. */
  readonly emissionHooks: readonly string[];
  /** Those of them that are told of the events of one key in their order. */
  readonly orderedEmissionHooks: readonly string[];
  /** All that are kept; null: nobody asked for them. */
  readonly records: readonly DeliveryRecord[] | null;
  /** By how much the wall clock of a node was off at most. */
  readonly clockOffMs: number;
  /** When the engine was not there for a node: it had no quorum, or the way to it was broken. */
  readonly cuts: readonly Span[];
  /** When a process stood still. */
  readonly frozen: readonly Span[];
  /** How old a read may be that another node has written, while the engine is reachable. */
  readonly staleMsMax: number;
  /** After a cut, how long a node may take at most until it has the engine again. */
  readonly catchUpMsMax: number;
};

export type Violation = {
  readonly rule:
    | 'once' | 'winner' | 'unique' | 'order' | 'sequence' | 'refusal' | 'image' | 'stream' | 'read'
    | 'delivery' | 'overtaken' | 'record' | 'early' | 'cancelled';
  readonly message: string;
};

export const EMPTY: History = {
  writes: [], reads: [], images: [], followers: [], attempts: [], deliveries: [],
  hooks: [], orderedHooks: [], lateHooks: [], emissions: [], emissionHooks: [],
  orderedEmissionHooks: [], records: null, clockOffMs: 0, cuts: [], frozen: [],
  staleMsMax: 250, catchUpMsMax: 2000,
};

/** Whether a process stood still within a span. */
export function wasFrozen({ frozen }: History, fromMs: number, toMs: number): boolean {
  return frozen.some(({ beginMs, endMs }) => beginMs <= toMs && endMs >= fromMs);
}

/** A write in words, for messages. */
export function describe(write: Write): string {
  const { kind, key, token, expected, node, beginMs, endMs, outcome, refusal } = write;
  const times = `${beginMs.toFixed(0)}…${endMs.toFixed(0)} ms`;
  const after = expected === null ? '' : ` after ${expected}`;
  return `${kind} ${token}${after} of ${key ?? 'a new record'} at ${node}, ${times}: `
    + `${outcome}${refusal === null ? '' : ` (${refusal})`}`;
}
