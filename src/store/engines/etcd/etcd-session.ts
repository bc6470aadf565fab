/**
 * A session with a log in etcd (etcd-keys.ts has the format). Each append is one transaction that
 * compares the head, so no lock is held that could be lost. All reads are linearizable, so none
 * shows an entry that a majority lacks.
 */
import type { ClientRequest } from 'node:http';
import { sleep } from '../../../base/clock.ts';
import type { Timer } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';
import { isJsonObject, listObjects } from '../../../base/fields.ts';
import { parseKeyValues, parseRanges, parseRevision } from './etcd-request.ts';
import { createEntryReader, trimBelow } from './etcd-entries.ts';
import type { Gateway } from './etcd-gateway.ts';
import {
  createKeys, decodeEntry, decodeLogHead, decodePart, decodeSnapshot, encodeBase64, encodeEntry,
  encodeFloor, encodeHead, encodeLog, encodePart, encodeSnapshot,
} from './etcd-keys.ts';
import type { Keys } from './etcd-keys.ts';
import type { JsonFields } from './etcd-request.ts';
import type {
  BuildEntry, EngineSession, EngineSnapshot, EngineSnapshots, LogEntry, LogHead, LogPosition,
} from '../engine.ts';

type EtcdSessionDeps = {
  readonly gateway: Gateway;
  readonly durability: string;
  /** In [0, 1). */
  readonly random: () => number;
};

const CONTENTION_MS_MAX = 2000;
// A lost append is recent if etcd has made at most this many revisions since: a loser that is still
// trying puts `lost` just before the winner's append, with few keys of other nodes in between.
const RECENT_REVISIONS = 4;
// Entries in the response to a lost append: mostly all, as a loser misses one or two.
const MISSED_AT_ONCE = 16;
// Entries in one further read of a node that was away; their bytes end it earlier (`readAfter`).
const MISSED_MAX = 1000;
// Bounded, since a node that was frozen and has much to apply would hold up all others.
const YIELD_MS_MAX = 250;

export class EtcdSession implements EngineSession {
  readonly durability: string;
  readonly snapshots: EngineSnapshots;
  readonly readAfter: EngineSession['readAfter'];
  readonly #gateway: Gateway;
  readonly #keys: Keys;
  readonly #random: () => number;
  readonly #watches = new Set<() => void>();
  /** Wait before the next append, for a node that has just lost against this one. */
  #yieldMs = 0;

  constructor({ gateway, durability, random }: EtcdSessionDeps) {
    this.durability = durability;
    this.#gateway = gateway;
    this.#keys = createKeys(gateway.address.prefix);
    this.readAfter = createEntryReader(gateway, this.#keys);
    this.#random = random;
    this.snapshots = createEtcdSnapshots(gateway, this.#keys);
  }

  async head(): Promise<LogHead | null> {
    return parseHead(await this.#transact(this.#headRanges));
  }

  /** Throws `damaged` where entries are left of a log that lost its head. */
  async create(head: LogHead): Promise<boolean> {
    const { log, floor, entry, entriesEnd } = this.#keys;
    const isAbsent = { target: 'CREATE', result: 'EQUAL', create_revision: '0' };
    const response = await this.#gateway.sendOnce('/v3/kv/txn', {
      compare: [
        { key: log, ...isAbsent }, { key: entry(0), range_end: entriesEnd, ...isAbsent },
      ],
      success: [
        { request_put: { key: log, value: encodeLog(head) } },
        { request_put: { key: this.#keys.head, value: encodeHead(head.log, head) } },
        { request_put: { key: floor, value: encodeFloor(head.floor) } },
      ],
      failure: [{ request_range: { key: log } }],
    });
    const [logKeys] = parseRanges(response);
    if (response.succeeded !== true && logKeys?.length === 0) {
      throw this.#createError('damaged', 'entries of a log lie there without its head: name '
        + 'another prefix, or bring the head back from a backup of etcd');
    }
    return response.succeeded === true;
  }

  async barrier(node: string): Promise<LogHead | null> {
    const putNode = { request_put: { key: this.#keys.node(node), value: encodeBase64(node) } };
    try {
      return parseHead(await this.#transact([putNode, ...this.#headRanges]));
    } catch (error) {
      // A linearizable read shows what a majority has, no less: the write adds that it can take
      // more. Where it cannot, as its quota is used up, a node may read.
      if (!isFull(error)) throw error;
      return await this.head();
    }
  }

  async append(log: string, expected: LogPosition, entry: LogEntry): Promise<boolean> {
    const waitMs = this.#yieldMs;
    this.#yieldMs = 0;
    if (waitMs > 0) await sleep(this.#gateway.clock, waitMs);
    // The entry was built from a head that is long known, so there is no turn to measure, and a
    // conflict is answered by `appendLocked`, which reads by itself.
    const turnMs = 0;
    if (await this.#append(log, expected, entry, turnMs, []) === null) return true;
    // An entry that is sent again may be there since the first time.
    return this.holds(entry);
  }

  /**
   * The response to a lost attempt has the missed entries: the next attempt needs no read. It does
   * not wait for `#yieldMs`: a node that is here has lost, or expects to, and must win some time.
   */
  async appendLocked(log: string, from: LogPosition, build: BuildEntry): Promise<LogEntry | null> {
    const { clock } = this.#gateway;
    let response = await this.#transact(this.#rangesAfter(from));
    let endMs: number | undefined;
    for (;;) {
      // The turn begins when the response with the head is here; reading more is a part of it.
      const headReadMs = clock.monotonicMs();
      const { head, missedEntries } = await this.#readMissed(response);
      const entry = build(missedEntries, head);
      if (entry === null) return null;
      const sentMs = clock.monotonicMs();
      const turnMs = sentMs - headReadMs;
      const conflict = await this.#append(log, head, entry, turnMs, this.#rangesAfter(head));
      if (conflict === null) return entry;
      // The 2 s begin with the first attempt: a node that was away reads for long before it.
      endMs ??= sentMs + CONTENTION_MS_MAX;
      if (clock.monotonicMs() >= endMs) {
        throw this.#createError('unavailable', 'other nodes were first for 2 s; try again');
      }
      response = conflict;
    }
  }

  async holds({ sequence, batchId, chain }: LogEntry): Promise<boolean> {
    const key = this.#keys.entry(sequence);
    const [match] = parseKeyValues(await this.#gateway.sendRepeatable('/v3/kv/range', { key }));
    if (match === undefined) return false;
    const entry = decodeEntry(match.value);
    return entry.batchId === batchId && entry.chain === chain;
  }

  watch(wake: () => void): () => void {
    const end = watchKey(this.#gateway, this.#keys.head, wake);
    this.#watches.add(end);
    return () => {
      this.#watches.delete(end);
      end();
    };
  }

  trim(floor: number): Promise<void> {
    return trimBelow(this.#gateway, this.#keys, floor);
  }

  /** Calls no listener: a session is never lost, as each request finds a member by itself. */
  onLost(): void {}

  async close(): Promise<void> {
    for (const end of this.#watches) end();
    this.#watches.clear();
    this.#gateway.close();
  }

  get #headRanges(): readonly object[] {
    const { log, head, floor } = this.#keys;
    return [log, head, floor].map((key) => ({ request_range: { key } }));
  }

  /** Runs operations that may be executed twice. */
  #transact(success: readonly object[]): Promise<JsonFields> {
    return this.#gateway.sendRepeatable('/v3/kv/txn', { success });
  }

  #rangesAfter({ sequence }: LogPosition): readonly object[] {
    const { entry, entriesEnd } = this.#keys;
    const entries = { key: entry(sequence + 1), range_end: entriesEnd, limit: MISSED_AT_ONCE };
    return [...this.#headRanges, { request_range: entries }];
  }

  /**
   * Returns null if the entry was committed, else the response, with the matches of `ranges`.
   * `turnMs`: what the caller took from reading the head to sending this.
   */
  async #append(
    log: string, expected: LogPosition, entry: LogEntry, turnMs: number,
    ranges: readonly object[],
  ): Promise<JsonFields | null> {
    const value = encodeHead(log, expected);
    const body = {
      compare: [{ key: this.#keys.head, target: 'VALUE', result: 'EQUAL', value }],
      success: [
        { request_put: { key: this.#keys.head, value: encodeHead(log, entry) } },
        { request_put: { key: this.#keys.entry(entry.sequence), value: encodeEntry(entry) } },
        { request_range: { key: this.#keys.lost } },
      ],
      failure: [
        // Tells the winner, whose next append reads it, that another lost, and how long that took.
        { request_put: { key: this.#keys.lost, value: encodeBase64(String(Math.round(turnMs))) } },
        ...ranges,
      ],
    };
    const { clock } = this.#gateway;
    const startMs = clock.monotonicMs();
    try {
      const response = await this.#gateway.sendOnce('/v3/kv/txn', body);
      if (response.succeeded !== true) return response;
      this.#yieldAfter(response, clock.monotonicMs() - startMs);
      return null;
    } catch (error) {
      // etcd answers so to the write that uses up the quota, which it executes, and to later ones.
      if (isFull(error) && await this.holds(entry)) return null;
      throw error;
    }
  }

  /**
   * A node that has won is ready for its next append sooner than the losers, which must apply its
   * entry first: it would win for seconds. So it waits a moment if another has just lost.
   */
  #yieldAfter(response: JsonFields, tookMs: number): void {
    const [lostAppend] = parseRanges(response)[0] ?? [];
    const isRecent = lostAppend !== undefined
      && parseRevision(response) - lostAppend.revision <= RECENT_REVISIONS;
    const neededMs = isRecent ? Math.max(tookMs, Number(lostAppend.value.toString())) : 0;
    this.#yieldMs = Math.min(YIELD_MS_MAX, neededMs * (0.5 + this.#random()));
  }

  /**
   * Returns the head in a response to `#rangesAfter`, and the entries up to it that are left. Some
   * are missing if the log was trimmed meanwhile: the caller's `build` notices that, since they do
   * not continue its records then, and returns null.
   */
  async #readMissed(response: JsonFields): Promise<{ head: LogHead; missedEntries: LogEntry[] }> {
    const head = parseHead(response);
    if (head === null) throw this.#createError('damaged', 'the log is gone');
    // The first three ranges are those of the head.
    const [, , , entryKeys = []] = parseRanges(response);
    const missedEntries = entryKeys.map(({ value }) => decodeEntry(value));
    for (let last = missedEntries.at(-1); last !== undefined && last.sequence < head.sequence;) {
      const page = await this.readAfter(last.sequence, MISSED_MAX);
      missedEntries.push(...page.filter((entry) => entry.sequence <= head.sequence));
      last = page.at(-1);
    }
    return { head, missedEntries };
  }

  #createError(code: ErrorCode, why: string): AppError {
    return new AppError(code, `${this.#gateway.address.name}: ${why}`);
  }
}

function isFull(error: unknown): boolean {
  return error instanceof AppError && error.code === 'storage_full';
}

function parseHead(response: JsonFields): LogHead | null {
  const [log, head, floor] = parseRanges(response).map(([match]) => match?.value);
  return decodeLogHead(log, head, floor);
}

/** Snapshots: first their parts, then the key that makes a snapshot complete. */
function createEtcdSnapshots(gateway: Gateway, keys: Keys): EngineSnapshots {
  return {
    async list(): Promise<readonly EngineSnapshot[]> {
      const range = await gateway.sendRepeatable('/v3/kv/range', {
        key: keys.snapshot(0), range_end: keys.snapshotsEnd,
      });
      return parseKeyValues(range).map(({ value }) => decodeSnapshot(value)).reverse();
    },
    async readPart({ sequence }, part) {
      const key = keys.part(sequence, part);
      const range = await gateway.sendRepeatable('/v3/kv/range', { key });
      const [match] = parseKeyValues(range);
      if (match !== undefined) return decodePart(match.value);
      throw new AppError('damaged', `${gateway.address.name}: part ${part} of the snapshot at `
        + `sequence ${sequence} is not there any more`);
    },
    async writePart({ sequence }, part, content) {
      // A second put writes the same bytes, so `sendRepeatable`, which may send twice, is safe.
      await gateway.sendRepeatable('/v3/kv/put', {
        key: keys.part(sequence, part), value: encodePart(content),
      });
    },
    async complete(at, parts) {
      const put = [{
        request_put: { key: keys.snapshot(at.sequence), value: encodeSnapshot(at, parts) },
      }];
      const response = await gateway.sendRepeatable('/v3/kv/txn', {
        // A trim past this sequence has removed parts of this snapshot.
        compare: [{
          key: keys.floor, target: 'VALUE', result: 'LESS', value: encodeFloor(at.sequence + 1),
        }],
        success: put,
        // There may be no log yet: one may be created after the snapshot that it begins with.
        failure: [{ request_txn: {
          compare: [{ key: keys.floor, target: 'CREATE', result: 'EQUAL', create_revision: '0' }],
          success: put,
        } }],
      });
      if (response.succeeded === true) return;
      const [{ response_txn: noLogResponse } = {}] = listObjects(response.responses);
      if (isJsonObject(noLogResponse) && noLogResponse.succeeded === true) return;
      throw new AppError('unavailable',
        `${gateway.address.name}: the log was trimmed past sequence `
        + `${at.sequence} while a snapshot of it was written; the next one will do`);
    },
    async remove({ sequence }) {
      await gateway.sendRepeatable('/v3/kv/deleterange', { key: keys.snapshot(sequence) });
      await gateway.sendRepeatable('/v3/kv/deleterange', {
        key: keys.parts(sequence), range_end: keys.partsEnd(sequence),
      });
    },
  };
}

const PAUSE_MS = 250;
// Every node writes each 5 s, so a connection that is silent for longer is dead.
const SILENCE_MS_MAX = 30_000;

/**
 * Calls `wake` for each event on the key: a hint that others have written. Nothing relies on the
 * hint, so a watch that ends is begun again without asking for the changes between. Returns a
 * function that ends the watch.
 */
function watchKey(gateway: Gateway, key: string, wake: () => void): () => void {
  let isEnded = false;
  let request: ClientRequest | null = null;
  let pause: Timer | null = null;
  const begin = (): void => {
    if (isEnded) return;
    const watchRequest = gateway.open('/v3/watch', (response) => {
      // The first message says that the watch was created: `wake` reads any earlier entries.
      response.on('data', wake);
      // `close` follows both, and begins the next watch.
      response.on('error', () => watchRequest.destroy());
      response.on('end', () => watchRequest.destroy());
    });
    request = watchRequest;
    watchRequest.setTimeout(SILENCE_MS_MAX, () => watchRequest.destroy());
    watchRequest.on('error', () => watchRequest.destroy());
    watchRequest.on('close', () => {
      if (!isEnded) pause = gateway.clock.startTimer(PAUSE_MS, begin);
    });
    watchRequest.end(JSON.stringify({ create_request: { key } }));
  };
  begin();
  return () => {
    isEnded = true;
    pause?.cancel();
    request?.destroy();
  };
}
