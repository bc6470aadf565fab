/**
 * Opens the store of a node: the records are loaded from a snapshot and the log of an engine, which
 * the journal then follows. The data directory holds a snapshot of the node's own, and no data that
 * is not in the engine too.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Files } from '../disk/files.ts';
import { readInventory } from '../disk/inventory.ts';
import type { Engine } from '../engines/engine.ts';
import type { CollectionSpec, Replica } from '../store-port.ts';
import { ROOM_BYTES } from './appending/refusals.ts';
import { LOG_START } from './chain.ts';
import { EngineJournal } from './engine-journal.ts';
import { EngineLink } from './engine-link.ts';
import { ImageKeeper } from './image-keeper.ts';
import { LocalImage } from './local-image.ts';
import { LOG_FORMAT } from './entry.ts';
import type { ReplicatedImage } from './replicated-image.ts';

type ReplicaOptions = {
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly cachedRecordsMax: number | undefined;
  readonly engine: Engine;
  /** A UUID, of this node's own for good. */
  readonly node: string;
  readonly snapshotEveryBytes?: number | undefined;
  readonly mayCreate?: boolean | undefined;
};

type OpenedReplica = {
  readonly journal: EngineJournal;
  readonly image: ReplicatedImage;
  readonly replica: Replica;
};

/** Throws `misconfigured` or `unavailable` when the engine cannot be used, and `damaged`. */
export async function openReplica(options: ReplicaOptions): Promise<OpenedReplica> {
  const { engine, node, clock, files, directory, logger, mayCreate = true } = options;
  const local = new LocalImage(files, directory);
  const link = new EngineLink(engine, node, clock);
  try {
    const found = await link.begin(mayCreate);
    if (found === null) {
      if (!mayCreate) throw new AppError('not_found', noLog(engine.name));
      // Who names an engine for the first time expects to find their records there.
      checkDirectory(files, directory);
      await begin(link, local);
    }
    const snapshots = new ImageKeeper({
      ...options, local, link, maxImageBytes: engine.maxImageBytes,
    });
    const { session } = link;
    if (session === null) throw new AppError('unavailable', 'the engine closed the connection');
    const image = await snapshots.load(session);
    await local.begin(image.log);
    snapshots.keep(image);
    const { maxBatchBytes, maxImageBytes: maxRecordBytes } = engine;
    const journal = new EngineJournal({
      image, link, snapshots, maxBatchBytes, maxRecordBytes, clock, logger,
    });
    const { promise } = session;
    return { journal, image, replica: createReplica(engine.name, promise, link, journal, clock) };
  } catch (error) {
    link.close();
    throw error;
  }
}

function noLog(engine: string): string {
  return `${engine} holds no log: name the right database, or start hookshelf serve to begin one`;
}

function checkDirectory(files: Files, directory: string): void {
  const { journals } = readInventory(files, directory);
  if (journals.length === 0) return;
  throw new AppError('misconfigured', `the engine holds no log, and ${directory} holds the records `
    + 'of a store without an engine: bring them there with data:move, or name another directory');
}

/** Makes the log, unless another node is first. */
async function begin(link: EngineLink, local: LocalImage): Promise<void> {
  const { session } = link;
  const known = await local.find();
  if (known !== null) {
    throw new AppError('misconfigured', 'the engine holds no log, but this node has followed the '
      + `log ${known.log}: name the right database, or put its backup back; to begin anew, remove `
      + local.directory);
  }
  const head = { log: randomUUID(), format: LOG_FORMAT, floor: 0, ...LOG_START };
  if (session !== null) await link.ask(session, session.create(head));
}

function createReplica(
  engine: string, promise: string, link: EngineLink, journal: EngineJournal, clock: Clock,
): Replica {
  const { image } = journal;
  return {
    engine, durability: promise,
    get log() { return image.log; },
    get sequence() { return image.position.sequence; },
    get headSequence() { return image.headSequence; },
    get lastResponseMs() { return link.heardMs; },
    get disconnectReason() { return journal.awayReason; },
    get isReloading() { return journal.rejection !== null; },
    get figures() { return journal.appender.figures; },
    probeBytes: ROOM_BYTES,
    waitFor: (sequence, timeoutMs) => new Promise((resolve) => {
      let leave = (): void => {};
      const timer = clock.startTimer(timeoutMs, () => {
        leave();
        resolve(false);
      });
      leave = image.onReached(sequence, () => {
        timer.cancel();
        resolve(true);
      });
    }),
    isBehindSincePause: (nowMs) => journal.standstill.isBehind(nowMs),
    waitAfterPause: () => journal.standstill.wait(),
    onReload: (listener) => journal.onReload(listener),
    maintainWhen(mayMaintain) {
      journal.snapshots.mayMaintain = mayMaintain;
    },
  };
}
