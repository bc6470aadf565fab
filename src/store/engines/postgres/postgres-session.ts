/**
 * A session with the log in PostgreSQL, over up to three connections to one server. The first is
 * for appends and the barrier. The second is for reads, which go on while an append waits for
 * standbys. The third, opened when needed, is for snapshots and trimming. When one is lost, so is
 * the session.
 *
 * Notifications come on the first connection as well: the server holds them back during an append,
 * and sends them with its reply. This node needs no entries before that. On a connection of their
 * own, each append of three busy nodes woke three more processes of the server (a sixth of its
 * time).
 */
import { AppError } from '../../../base/errors.ts';
import type {
  BuildEntry, EngineSession, EngineSnapshots, LogEntry, LogHead, LogPosition,
} from '../engine.ts';
import type { Connection, SqlParameters, QueryResult } from './driver.ts';
import { Notifications } from './notifications.ts';
import { PostgresRejection } from './postgres-errors.ts';
import {
  decodeEntry, decodeHead, decodeLockedHead, decodePart, decodeSnapshot, encodePart, readText,
} from './rows.ts';
import {
  BARRIER, COMPLETE_SNAPSHOT, CREATE_HEAD, HOLDS_ENTRY, LIST_SNAPSHOTS, RAISE_FLOOR, READ_AFTER,
  READ_HEAD, READ_PART, REMOVE_REMAINS, REMOVE_SNAPSHOT, TRIM, WRITE_PART, appendStatement,
  lockStatement,
} from './statements.ts';

type PostgresSessionDeps = {
  readonly description: string;
  readonly writer: Connection;
  readonly reader: Connection;
  readonly openThird: () => Promise<Connection>;
  /** False where the service has no LISTEN. */
  readonly notifies: boolean;
  /** Whether commits must wait for standbys, as they did at the start. */
  readonly needsStandbys: boolean;
  /** Called when the server has confirmed a write. */
  readonly onConfirmed: () => void;
};

/** Entries that `appendLocked` has read up to `lastSequence`, and not yet given to `build`. */
type MissedEntries = { lastSequence: number; readonly entries: LogEntry[] };

type RunStatement = (text: string, parameters: SqlParameters) => Promise<QueryResult>;

const PAGE_LINES_BYTES_MAX = 16 << 20;
const PAGE_ENTRIES = 64;
// Bounds the entries that are read while the lock is held, since other nodes wait for it.
const LOCKED_BYTES = 1 << 20;
const LOCKS_MAX = 3;
const TRIM_ROWS = 1000;
const ATTEMPTS_MAX = 5;

export class PostgresSession implements EngineSession {
  readonly durability: string;
  readonly snapshots: EngineSnapshots;
  readonly #deps: PostgresSessionDeps;
  readonly #append: string;
  readonly #notifications: Notifications;
  #third: Promise<Connection> | null = null;
  readonly #lostListeners = new Set<(error: Error) => void>();
  #lost: AppError | null = null;
  #isClosing = false;

  constructor(deps: PostgresSessionDeps) {
    this.durability = deps.description;
    this.#deps = deps;
    this.#append = appendStatement(deps.notifies);
    this.#notifications = new Notifications(deps.writer, deps.notifies);
    this.snapshots = createPostgresSnapshots((text, parameters) => this.#ask(text, parameters));
  }

  async head(): Promise<LogHead | null> {
    const { rows } = await this.#deps.reader.query(READ_HEAD);
    return decodeHead(rows[0]);
  }

  async create(head: LogHead): Promise<boolean> {
    const { log, format, sequence, chain, floor } = head;
    return (await this.#write(CREATE_HEAD, [log, format, sequence, chain, floor])).length > 0;
  }

  async barrier(node: string): Promise<LogHead | null> {
    return decodeHead((await this.#write(BARRIER, [node]))[0]);
  }

  async append(log: string, expected: LogPosition, entry: LogEntry): Promise<boolean> {
    const { writer } = this.#deps;
    const run: RunStatement = (text, parameters) => writer.query(text, parameters);
    if (await this.#repeat(() => this.#appendOnce(run, log, expected, entry))) return true;
    // An earlier sending of this batch may have been under way until now.
    return this.holds(entry);
  }

  async appendLocked(
    log: string, from: LogPosition, build: BuildEntry,
  ): Promise<LogEntry | null> {
    const missedEntries: MissedEntries = { lastSequence: from.sequence, entries: [] };
    return this.#repeat(() => this.#appendUnderLock(log, missedEntries, build));
  }

  async holds({ batchId, chain }: LogEntry): Promise<boolean> {
    const { rows } = await this.#deps.reader.query(HOLDS_ENTRY, [batchId, chain]);
    return rows.length > 0;
  }

  async readAfter(sequence: number, maxEntries: number): Promise<readonly LogEntry[]> {
    const page = await readPage(this.#deps.reader, sequence, maxEntries);
    this.#notifications.markRead(page.at(-1)?.sequence ?? 0);
    return page;
  }

  watch(wake: () => void): () => void {
    return this.#notifications.watch(wake);
  }

  async trim(floor: number): Promise<void> {
    await this.#ask(RAISE_FLOOR, [floor]);
    let removedRows = TRIM_ROWS;
    while (removedRows === TRIM_ROWS) {
      removedRows = (await this.#ask(TRIM, [floor, TRIM_ROWS])).rows.length;
    }
  }

  onLost(listener: (error: Error) => void): void {
    this.#lostListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#closeAll();
  }

  /** Called with the sequence of an append that was notified. */
  onNotification(payload: string): void {
    this.#notifications.onNotification(payload);
  }

  /** Ends all connections when one is lost. */
  lose(error: AppError): void {
    if (this.#lost !== null) return;
    this.#lost = error;
    this.#closeAll();
    if (this.#isClosing) return;
    for (const listener of this.#lostListeners) listener(error);
  }

  #closeAll(): void {
    this.#deps.writer.close();
    this.#deps.reader.close();
    this.#third?.then((connection) => connection.close(), () => undefined);
  }

  /** Runs a statement that may take long, on the third connection. */
  async #ask(text: string, parameters: SqlParameters): Promise<QueryResult> {
    if (this.#lost !== null) throw this.#lost;
    const opening = this.#third ??= this.#deps.openThird();
    opening.catch(() => {
      if (this.#third === opening) this.#third = null;
    });
    const connection = await opening;
    if (this.#lost !== null) connection.close();
    return this.#assertConfirmed(await connection.query(text, parameters));
  }

  async #appendOnce(
    run: RunStatement, log: string, expected: LogPosition, entry: LogEntry,
  ): Promise<boolean> {
    this.#notifications.expectOwn(entry.sequence);
    const { rows: [row], warning } = await run(this.#append, [
      expected.sequence, expected.chain, entry.sequence, entry.chain, entry.batchId,
      entry.lines.toString(), log,
    ]).catch((thrown: unknown) => {
      this.#notifications.dropOwn(entry.sequence);
      throw thrown;
    });
    if (warning !== null) throw this.#createUnconfirmedError(warning);
    if (row === undefined) {
      this.#notifications.dropOwn(entry.sequence);
      return false;
    }
    if (this.#deps.needsStandbys && readText(row, 'standbys').trim() === '') {
      throw this.#createUnconfirmedError('synchronous_standby_names has been emptied');
    }
    return true;
  }

  async #appendUnderLock(
    log: string, missedEntries: MissedEntries, build: BuildEntry,
  ): Promise<LogEntry | null> {
    const { writer } = this.#deps;
    try {
      const head = await this.#lock(missedEntries);
      this.#notifications.markRead(missedEntries.lastSequence);
      const entry = build(missedEntries.entries.splice(0), head);
      if (entry === null) {
        await writer.query('rollback');
        return null;
      }
      const run: RunStatement = (text, parameters) => writer.queryAndCommit(text, parameters);
      if (await this.#appendOnce(run, log, head, entry)) return entry;
      throw new AppError('unavailable', 'the log is another one than it was');
    } catch (thrown) {
      if (this.#lost === null) await writer.query('rollback').catch(() => undefined);
      throw thrown;
    }
  }

  /**
   * Locks the head, and reads the missed entries. While there are many of them it gives the lock
   * back to read. Mostly they are few, and come with the lock: a message costs each side 200 µs.
   */
  async #lock(missedEntries: MissedEntries): Promise<LogHead> {
    const { writer } = this.#deps;
    for (let locks = 1; ; locks += 1) {
      const [row, ...page] = await writer.queryAllBytes(
        lockStatement(missedEntries.lastSequence, PAGE_ENTRIES, LOCKED_BYTES));
      const head = decodeLockedHead(row);
      if (head === null) throw new AppError('damaged', 'the head of the log is gone');
      addEntries(missedEntries, page.map(decodeEntry));
      const isNear = missedEntries.lastSequence >= head.sequence;
      if (!isNear && locks < LOCKS_MAX) await writer.query('rollback');
      await this.#readMissed(missedEntries, head.sequence);
      if (isNear || locks === LOCKS_MAX) return head;
    }
  }

  async #readMissed(missedEntries: MissedEntries, until: number): Promise<void> {
    while (missedEntries.lastSequence < until) {
      const page = await readPage(this.#deps.writer, missedEntries.lastSequence, PAGE_ENTRIES);
      if (page.length === 0) return;
      addEntries(missedEntries, page);
    }
  }

  async #write(text: string, parameters: SqlParameters): Promise<QueryResult['rows']> {
    const result = await this.#repeat(() => this.#deps.writer.query(text, parameters));
    return this.#assertConfirmed(result).rows;
  }

  /** Runs again after a conflict with other transactions, which has changed nothing. */
  async #repeat<Result>(run: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run();
      } catch (thrown) {
        const isRepeatable = thrown instanceof PostgresRejection && thrown.isRepeatable;
        if (!isRepeatable || attempt === ATTEMPTS_MAX) throw thrown;
      }
    }
  }

  /** Throws for a warning: the commit has not waited for its standbys, and may not last. */
  #assertConfirmed(result: QueryResult): QueryResult {
    if (result.warning !== null) throw this.#createUnconfirmedError(result.warning);
    this.#deps.onConfirmed();
    return result;
  }

  #createUnconfirmedError(reason: string): AppError {
    const error = new AppError('unknown_outcome',
      `PostgreSQL has committed and does not know whether its standbys have it: ${reason}`);
    this.lose(error);
    return error;
  }
}

function addEntries(missedEntries: MissedEntries, page: readonly LogEntry[]): void {
  missedEntries.entries.push(...page);
  missedEntries.lastSequence = page.at(-1)?.sequence ?? missedEntries.lastSequence;
}

async function readPage(
  connection: Connection, sequence: number, maxEntries: number,
): Promise<LogEntry[]> {
  const rows = await connection.queryBytes(
    READ_AFTER, [sequence, maxEntries, PAGE_LINES_BYTES_MAX]);
  return rows.map(decodeEntry);
}

/** Snapshots: first their parts, then the row that completes a snapshot. */
function createPostgresSnapshots(ask: RunStatement): EngineSnapshots {
  return {
    list: async () => (await ask(LIST_SNAPSHOTS, [])).rows.map(decodeSnapshot),
    readPart: async ({ sequence, chain }, part) => {
      const { rows: [row] } = await ask(READ_PART, [sequence, chain, part]);
      if (row !== undefined) return decodePart(row);
      throw new AppError('unavailable', `part ${part} of the snapshot at ${sequence} is not there`);
    },
    writePart: async ({ sequence }, part, { sha256, bytes }) => {
      await ask(WRITE_PART, [sequence, part, sha256, encodePart(bytes)]);
    },
    complete: async ({ sequence, chain }, parts) => {
      const { rows } = await ask(COMPLETE_SNAPSHOT, [sequence, chain, parts]);
      if (rows.length === 0) {
        throw new AppError('unavailable', `parts of the snapshot at ${sequence} have been removed`);
      }
      await ask(REMOVE_REMAINS, [sequence]);
    },
    remove: async ({ sequence, chain }) => void await ask(REMOVE_SNAPSHOT, [sequence, chain]),
  };
}
