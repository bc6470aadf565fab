/**
 * A copy is a data directory that takes the transactions of a server's log, in their order, and
 * writes none of its own. So it always holds a beginning of what that server has acknowledged, and
 * any server can start on it. Its own compactions write its generations.
 *
 * If the log of the server does not continue the copy, the copy begins anew: it receives a backup
 * in the folder `replacing.tmp`, reads it whole, and replaces its state by that (replacement.ts).
 * The old state stays until then. If it is of another history, as after a restore, it is kept in
 * `before-<time>/`; else it is a beginning of the new state, and is deleted. The number of folders
 * `before-…` is limited: the copy deletes none, and a follower that is started again and again must
 * not fill the disk.
 */
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, systemCodeOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { diskError } from '../disk/disk-error.ts';
import type { Files } from '../disk/files.ts';
import { holdsData, nameOldState } from '../disk/inventory.ts';
import { EPOCHS, listEpochs } from '../epochs.ts';
import type { EpochPosition } from '../epochs.ts';
import { FileJournal } from '../generations/file-journal.ts';
import { recoverState } from '../generations/recovery.ts';
import {
  clearStage, finishReplacements, replaceState, stagePath,
} from '../generations/replacement.ts';
import { repairDirectory } from '../generations/repair.ts';
import type { DecodedCollections } from '../journal/journal-line.ts';
import type { StoredCollection } from '../records/collection.ts';
import type { CollectionSpec, LoggedTransaction } from '../store-port.ts';
import { ChangeFeed, checkCollections } from '../transactions/change-feed.ts';
import { findCopyNote, writeCopyNote } from './copy-note.ts';
import type { CopyNote } from './copy-note.ts';
import { readReceived, receiveBackup } from '../backup/receive-backup.ts';

type CopyDeps = {
  /** An existing directory; the caller holds its lock. */
  readonly directory: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly specs: readonly CollectionSpec[];
};

/** The records of a copy, and the journal that continues them. */
type CopiedState = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  readonly journal: FileJournal;
};

const OLD_STATES_MAX = 8;

export class Copy {
  readonly #deps: CopyDeps;
  #note: CopyNote;
  /** Null while it holds nothing, and until `recover` where that is not known. */
  #state: CopiedState | null;
  /** Whether what is on the disk is not known, as after a failed sync or replacement. */
  #isUncertain = false;

  /** Use `openCopy`. */
  constructor(deps: CopyDeps, note: CopyNote, state: CopiedState | null) {
    this.#deps = deps;
    this.#note = note;
    this.#state = state;
  }

  /** Names the copy to the server. */
  get id(): string {
    return this.#note.id;
  }

  get sequence(): number {
    return this.#state?.journal.sequence ?? 0;
  }

  /** Its collections, by name; none while it holds nothing. */
  get collections(): DecodedCollections {
    return this.#state?.collections ?? new Map();
  }

  /** Null while it holds nothing. */
  get position(): EpochPosition | null {
    assert(!this.#isUncertain, 'a copy is recovered before it is used');
    const state = this.#state;
    return state === null ? null : { epoch: getLastEpoch(state), sequence: this.sequence };
  }

  /**
   * Writes the next transactions of the log, all or none of them, and resolves once they are on
   * disk. Throws `unavailable` for those that do not continue the copy, `damaged` for those of a
   * newer release, and what the disk refuses; after that `recover` must be called.
   */
  async append(transactions: readonly LoggedTransaction[]): Promise<void> {
    const state = this.#state;
    assert(state !== null, 'an empty copy begins with a backup');
    checkContinuation(transactions, this.sequence);
    checkCollections(state.collections, transactions);
    await this.#noteEpochs(state, transactions);
    const { logger } = this.#deps;
    return new Promise((resolve, reject) => state.journal.append({
      collectOperations: () => transactions.map(({ operations }) => operations),
      onEnded: (error) => {
        if (error !== null) {
          this.#isUncertain ||= error.code === 'unknown_outcome';
          reject(error);
          return;
        }
        const feed = new ChangeFeed((cause) =>
          logger.error('a record could not be applied', { cause }));
        for (const { sequence, operations } of transactions) {
          feed.apply(state.collections, sequence, operations);
        }
        resolve();
      },
    }));
  }

  /**
   * Begins anew with the backup that `chunks` are; where this throws, the copy is as before once
   * `recover` has been called. Throws `damaged`, `conflict` while there are too many old states,
   * and what the disk refuses. Returns the folder that the old state went to; null where it was
   * deleted, or there was none.
   */
  async replace(
    chunks: AsyncIterable<Buffer>, keepsOldState: boolean,
  ): Promise<string | null> {
    const { directory, files } = this.#deps;
    if (keepsOldState && this.#listOldStates().length >= OLD_STATES_MAX) {
      throw new AppError('conflict', `${directory} holds ${OLD_STATES_MAX} folders before-…, with `
        + 'what the copy was before: remove those that you need no more. If nobody has restored '
        + 'the server so often, there may be two servers behind its address');
    }
    const before = await withDiskErrors(directory, async () => {
      const stage = stagePath(directory);
      clearStage(files, directory);
      try {
        files.makeDirectorySync(stage);
        await receiveBackup(files, stage, chunks);
        return await this.#replaceBy(stage, keepsOldState);
      } finally {
        clearStage(files, directory);
      }
    });
    await this.recover();
    return before === null ? null : join(directory, before);
  }

  /**
   * Reads the state from the disk where it is not known what is there. Throws `damaged`, and what
   * the disk refuses: then nothing is lost, and it may be called again.
   */
  async recover(): Promise<void> {
    if (!this.#isUncertain) return;
    await this.close();
    this.#state = await withDiskErrors(this.#deps.directory, () => openState(this.#deps));
    this.#isUncertain = false;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = null;
    await state?.journal.close();
  }

  /** Returns the name of the folder that the old state went to; null where there is none. */
  async #replaceBy(stage: string, keepsOldState: boolean): Promise<string | null> {
    const { position: oldPosition } = this;
    const { directory, files, specs, clock } = this.#deps;
    // Memory has no room for two states.
    this.#isUncertain = true;
    await this.close();
    const backupState = await readReceived({ directory: stage, files, specs });
    const oldEpochs = oldPosition === null ? [] : [oldPosition.epoch];
    const before = keepsOldState && oldPosition !== null ? nameOldState(clock.now()) : null;
    this.#note = {
      ...this.#note, epochs: [...oldEpochs, getLastEpoch(backupState)],
      oldStates: [...this.#listOldStates(), ...before === null ? [] : [before]],
    };
    await writeCopyNote(files, directory, this.#note);
    await replaceState(files, directory, backupState, { before });
    return before;
  }

  /** The names of the folders with old states that are still there. */
  #listOldStates(): readonly string[] {
    const { directory, files } = this.#deps;
    return this.#note.oldStates.filter((name) => files.existsSync(join(directory, name)));
  }

  /** Before the first transaction of an epoch, the note names that epoch. */
  async #noteEpochs(
    state: CopiedState, transactions: readonly LoggedTransaction[],
  ): Promise<void> {
    const newEpochs = transactions.flatMap(({ operations }) => operations)
      .filter(({ collection, bytes }) => collection === EPOCHS.name && bytes !== null)
      .map(({ id }) => id);
    if (newEpochs.length === 0) return;
    const { directory, files } = this.#deps;
    this.#note = { ...this.#note, epochs: [getLastEpoch(state), ...newEpochs] };
    await withDiskErrors(directory, () => writeCopyNote(files, directory, this.#note));
  }
}

/**
 * Throws `conflict` for a directory that holds anything else than a copy, `damaged` as a start, and
 * what the disk refuses.
 */
export function openCopy(deps: CopyDeps): Promise<Copy> {
  return withDiskErrors(deps.directory, () => openDirectory(deps));
}

async function openDirectory(deps: CopyDeps): Promise<Copy> {
  const { directory, files } = deps;
  const note = await findCopyNote(files, directory);
  if (note === null) {
    if (holdsData(files, directory)) {
      throw new AppError('conflict', `${directory} holds data that no data:follow brought there: `
        + 'name a directory that is empty or new');
    }
    const newNote = { id: loadCrypto().randomUUID(), epochs: [], oldStates: [] };
    await writeCopyNote(files, directory, newNote);
    return new Copy(deps, newNote, null);
  }
  const state = await openState(deps);
  if (state === null || note.epochs.includes(getLastEpoch(state))) {
    return new Copy(deps, note, state);
  }
  await state.journal.close();
  throw new AppError('conflict', `${directory} has writes of its own, as a server or a command has `
    + 'worked on it since it was a copy: it is left as it is; name a directory that is empty or '
    + 'new');
}

/** Null for a directory that holds nothing yet. */
async function openState(deps: CopyDeps): Promise<CopiedState | null> {
  const { directory, files, specs, logger } = deps;
  await finishReplacements(files, directory);
  if (!holdsData(files, directory)) return null;
  const state = await recoverState({ directory, files, specs });
  const file = await repairDirectory(directory, files, logger, state);
  const journal = new FileJournal(deps, state, file);
  try {
    await journal.completeRecovery(state);
    return { collections: state.collections, journal };
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}

function checkContinuation(transactions: readonly LoggedTransaction[], sequence: number): void {
  const wrong = transactions.find((transaction, index) =>
    transaction.sequence !== sequence + index + 1);
  if (wrong === undefined) return;
  throw new AppError('unavailable', `transaction ${wrong.sequence} came where another was due, `
    + `after ${sequence}: what came was broken on the way`);
}

/** The epoch of the last transaction; `''` without any. */
function getLastEpoch({ collections }: Pick<CopiedState, 'collections'>): string {
  const collection = collections.get(EPOCHS.name);
  return (collection === undefined ? undefined : listEpochs(collection).at(-1)?.id) ?? '';
}

/** The result of `run`; what the system refuses in it is thrown as an error of the disk. */
async function withDiskErrors<T>(directory: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof AppError || systemCodeOf(thrown) === undefined) throw thrown;
    throw diskError(`${directory} cannot be read or written`, thrown);
  }
}
