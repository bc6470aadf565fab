/**
 * Snapshots of what several nodes share: each node keeps one of its own in its data directory
 * (local-image.ts), to start from, and whoever may (`mayMaintain`) gives the engine the same, keeps
 * two there, and trims from the log what precedes the older one.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EngineSession, LogHead, LogPosition } from '../engines/engine.ts';
import type { Snapshots } from '../journal/journal-port.ts';
import type { CollectionSpec } from '../store-port.ts';
import { StoredCollection } from '../records/collection.ts';
import { measureGarbage } from '../records/garbage.ts';
import { LOG_START, isSamePosition } from './chain.ts';
import type { EngineLink } from './engine-link.ts';
import { isRefused } from './engine-link.ts';
import { unreachable } from './fresh-reads.ts';
import { checkParts, receiveParts, removeOld, sendImage } from './image-transfer.ts';
import type { ImageManifest, LocalImage } from './local-image.ts';
import { checkFormat } from './entry.ts';
import { ReplicatedImage } from './replicated-image.ts';

/** Of the log since the last image: what a start has to read at most, about. */
const LOG_BYTES_MAX = 256 << 20;
const ENTRIES_MAX = 64;
/** Doubled with each failure: what was written here for it may be large. */
const RETRY_MS = 60_000;
const RETRY_MS_MAX = 3_600_000;

type ImageKeeperOptions = {
  readonly local: LocalImage;
  readonly link: EngineLink;
  readonly specs: readonly CollectionSpec[];
  readonly cachedRecordsMax: number | undefined;
  readonly maxImageBytes: number;
  readonly snapshotEveryBytes?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
};

type LocalImageFiles = {
  readonly manifest: ImageManifest & { readonly journalBytes: number };
  /** How many each collection has. */
  readonly records: Readonly<Record<string, number>>;
};

type ImageFiles = Pick<LocalImageFiles['manifest'], 'generation' | 'sequence' | 'journalBytes'>
  & Pick<LocalImageFiles, 'records'> & { readonly directory: string };

export class ImageKeeper implements Snapshots {
  /** Whether this node is the one that gives the engine snapshots. */
  mayMaintain: () => boolean = () => false;
  writtenMs: number | null = null;
  readonly #options: ImageKeeperOptions;
  #image: ReplicatedImage | null = null;
  #running: Promise<void> | null = null;
  #isStopping = false;
  #retryAfterMs = -Infinity;
  #failures = 0;
  /** Of the log that images here hold, and none that was given to the engine. */
  #unsentBytes = 0;

  constructor(options: ImageKeeperOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** What it makes snapshots of. */
  keep(image: ReplicatedImage): void {
    this.#image = image;
  }

  /** Writes one and gives it to the engine, whoever may. */
  async write(): Promise<void> {
    await this.#alone(() => this.#write(true));
  }

  /** Runs while the files of a new one are kept, which are those of a store without an engine. */
  async withFiles<T>(use: (files: ImageFiles) => T | Promise<T>): Promise<T> {
    const { local } = this.#options;
    return this.#alone(async () => {
      const { manifest, records } = await this.#writeLocal();
      const { generation, sequence, journalBytes } = manifest;
      return use({ directory: local.directory, generation, sequence, journalBytes, records });
    });
  }

  writeWhenDue(): void {
    const { clock, logger } = this.#options;
    if (this.#running !== null || this.#isStopping || !this.#isDue()) return;
    if (clock.monotonicMs() < this.#retryAfterMs) return;
    this.#alone(() => this.#write(this.mayMaintain())).then(() => {
      this.#failures = 0;
    }, (error: unknown) => {
      if (this.#isStopping) return;
      const retryMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#retryAfterMs = clock.monotonicMs() + retryMs;
      logger.error('a snapshot could not be written', { error });
    });
  }

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  /**
   * The newest image, and all that the log has after it: of this node's own if that still stands
   * in the log, else of the engine's. Throws `damaged` when there is none though the log needs one.
   */
  load(session: EngineSession): Promise<ReplicatedImage> {
    return this.#alone(() => this.#load(session));
  }

  async #load(session: EngineSession): Promise<ReplicatedImage> {
    const { link } = this.#options;
    const head = await link.ask(session, session.head());
    if (head === null) throw new AppError('unavailable', 'the log is gone from the engine');
    checkFormat(head);
    const image = await this.#loadLocal(session, head) ?? await this.#loadFromEngine(session, head)
      ?? this.#startOf(head);
    while (true) {
      const { sequence } = image.position;
      const entries = await link.ask(session, session.readAfter(sequence, ENTRIES_MAX));
      if (entries.length === 0) return image;
      if (await image.acceptInTurns(entries)) continue;
      throw new AppError('damaged', `the log of the engine cannot be followed (${
        image.divergence}): ask data:verify, and put a backup of the engine back`);
    }
  }

  async #alone<T>(run: () => Promise<T>): Promise<T> {
    while (this.#running !== null) await this.#running;
    let end = (): void => {};
    this.#running = new Promise((resolve) => {
      end = resolve;
    });
    try {
      return await run();
    } finally {
      this.#running = null;
      end();
    }
  }

  #isDue(): boolean {
    if (this.#image === null) return false;
    const unsentBytes = this.mayMaintain() ? this.#unsentBytes : 0;
    const logBytes = this.#image.appliedBytes + unsentBytes;
    return logBytes >= (this.#options.snapshotEveryBytes ?? LOG_BYTES_MAX)
      || measureGarbage(this.#image.collections).isWorthCompacting;
  }

  async #write(isForEngine: boolean): Promise<void> {
    const { manifest } = await this.#writeLocal();
    if (!isForEngine || manifest.sequence === 0) return;
    const { link, local, maxImageBytes } = this.#options;
    const { session } = link;
    if (session === null) throw unreachable('it gives no answer');
    const sums = await sendImage(link, session, local, manifest, maxImageBytes,
      () => this.#isStopping);
    await checkParts(link, session, manifest, sums);
    await removeOld(link, session);
    this.#unsentBytes = 0;
  }

  async #writeLocal(): Promise<LocalImageFiles> {
    const image = this.#image;
    if (image === null || image.divergence !== null) {
      throw new AppError('unavailable', 'the records are loaded anew');
    }
    const { log, position, collections, appliedBytes } = image;
    const frozen = new Map([...collections].map(([name, collection]) =>
      [name, collection.freeze()]));
    image.appliedBytes = 0;
    try {
      const records = Object.fromEntries([...frozen].map(([name, { size }]) => [name, size]));
      const { local } = this.#options;
      const manifest = await local.write(log, position, frozen, () => this.#isStopping);
      this.writtenMs = this.#options.clock.now();
      this.#unsentBytes += appliedBytes;
      return { manifest, records };
    } catch (error) {
      image.appliedBytes += appliedBytes;
      throw error;
    } finally {
      for (const collection of collections.values()) collection.thaw();
    }
  }

  async #loadLocal(session: EngineSession, head: LogHead): Promise<ReplicatedImage | null> {
    const { local } = this.#options;
    const manifest = await local.find();
    if (manifest === null || !await this.#stands(session, manifest, head)) return null;
    try {
      return await this.#loadFiles(manifest);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#options.logger.warning('the snapshot of this node cannot be read; taking the engine\'s',
        { reason: messageOf(error) });
      return null;
    }
  }

  /** Whether the log has exactly this there. */
  async #stands(
    session: EngineSession, { log, sequence, chain }: ImageManifest, head: LogHead,
  ): Promise<boolean> {
    if (log !== head.log || sequence < 1 || sequence > head.sequence) return false;
    const { link } = this.#options;
    const [entry] = await link.ask(session, session.readAfter(sequence - 1, 1));
    return entry !== undefined && isSamePosition(entry, { sequence, chain });
  }

  async #loadFromEngine(session: EngineSession, head: LogHead): Promise<ReplicatedImage | null> {
    const { link, local, logger } = this.#options;
    for (const snapshot of await link.ask(session, session.snapshots.list())) {
      try {
        const manifest = await local.receive(receiveParts(link, session, snapshot));
        const isOther = manifest.log !== head.log || !isSamePosition(manifest, snapshot);
        if (!isOther && await this.#stands(session, manifest, head)) {
          return await this.#loadFiles(manifest);
        }
        logger.warning('a snapshot of the engine does not belong to its log',
          { sequence: snapshot.sequence });
      } catch (error) {
        if (!isRefused(error) || error.code !== 'damaged') throw error;
        logger.error('a snapshot of the engine is damaged; taking the one before',
          { sequence: snapshot.sequence, reason: error.message });
      }
      await local.clear();
    }
    return null;
  }

  async #loadFiles(manifest: ImageManifest): Promise<ReplicatedImage> {
    const image = this.#empty(manifest.log, manifest);
    await this.#options.local.load(manifest, image.collections);
    return image;
  }

  #startOf(head: LogHead): ReplicatedImage {
    if (head.floor === 0) return this.#empty(head.log, LOG_START);
    if (head.sequence < head.floor) {
      throw new AppError('unavailable', 'a data:move into this log is not done: wait for its end, '
        + 'or run it again if it was cut off');
    }
    throw new AppError('damaged', `the engine's log begins at ${head.floor}, and no snapshot of it `
      + 'can be read: put a backup of the engine back');
  }

  #empty(log: string, { sequence, chain }: LogPosition): ReplicatedImage {
    const { specs, cachedRecordsMax } = this.#options;
    const collections = specs.map((spec): [string, StoredCollection] =>
      [spec.name, new StoredCollection(spec, cachedRecordsMax)]);
    return new ReplicatedImage(new Map(collections), log, { sequence, chain });
  }
}
