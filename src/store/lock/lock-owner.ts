/**
 * The owner of a lock, as a lock file names it, and whether that process is alive. The file holds
 * one line of JSON:
 *
 *   {"pid":7,"startTime":"812","bootId":"…","namespace":"3","kind":"server",
 *    "socketPath":"/data/control.sock","hasSocket":true,"file":"2049:131",
 *    "journal":{"generation":2,"sequence":118}}
 *
 * `pid` to `namespace` tell which process it is (process-identity.ts). `file` is the device and the
 * inode number of the lock file itself. A file with other numbers is a copy, as of a whole data
 * directory: its owner holds the original, so the copy is free, and nothing that it names counts.
 * The numbers stay when the directory is renamed, linked or bound elsewhere, also into a container
 * of this machine. They may change by a remount or a reboot, which the owner does not survive. File
 * systems that make numbers up (FAT, some of FUSE) keep those of an open file, and the owner keeps
 * the file open. A hard link to the file is no copy: flock(2) holds there, too. Without `file`, as
 * versions before it wrote it, the file counts as the original.
 *
 * A file that names nobody holds one of these:
 *
 *   {"released":true}
 *   {"released":true,"journal":{"generation":2,"sequence":118}}
 *
 * The file is not emptied: it keeps its block of the disk, so that the next owner can be named on a
 * full disk. `journal` is an end that the journal had: at a stop in order the last one, beside an
 * owner the one with which that opened the data. All up to there was acknowledged and is on disk.
 * Nothing in the journal itself tells that its last lines are missing, as an interrupted copy or a
 * lost page leaves it, and nothing else that it is gone. So a start, a verification, a move and a
 * restore from a copy of the directory hold the state to this end (`checkJournalEnd` of
 * recovery.ts).
 *
 * - The end is absent, and nothing is checked: without the file, before the first stop, in files of
 *   older versions, and in `lock-<n>`. An end at sequence 0 counts as absent.
 * - A kill leaves the end with which the process opened the data: what was written since then, and
 *   is missing, is not noticed.
 * - The file is not synced. A power loss may bring an earlier end back, or a content that is not
 *   JSON and tells no end. An earlier end still holds: a journal grows, or a generation follows.
 * - The end says nothing of data of a newer generation: a restore, or a copy that began anew, has
 *   written that, in a generation above the end's (replacement.ts).
 */
import { assert } from '../../base/assert.ts';
import { systemCodeOf } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { hasListener } from './liveness.ts';
import type { LivenessSocket } from './liveness.ts';
import {
  describeProcess, isInThisNamespace, readStart, readStartTime,
} from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** A sequence that was acknowledged, and the generation that it is in. */
export type JournalEnd = { readonly generation: number; readonly sequence: number };

export type LockKind = 'server' | 'command';

export type LockOwner = ProcessIdentity & {
  readonly kind: LockKind;
  /** Path of the control socket, null while there is none. */
  readonly socketPath: string | null;
  /** Whether the owner listens on a socket beside its lock file (liveness.ts). */
  readonly hasSocket: boolean;
};

/** An owner, and whether the file that names it is a copy of its lock file. */
export type NamedOwner = LockOwner & { readonly isCopy: boolean };

export function describeThisProcess(
  files: Files, kind: LockKind, socketPath: string | null, hasSocket: boolean,
): LockOwner {
  return { ...describeProcess(files, process.pid), kind, socketPath, hasSocket };
}

/** A lock that this process holds: its file names this process until the release. */
export class OwnedLock {
  readonly #files: Files;
  readonly #descriptor: Descriptor;
  readonly #kind: LockKind;
  readonly #liveness: LivenessSocket | null;
  /** The end of the journal that the file tells; the holder sets it once a later one is true. */
  journalEnd: JournalEnd | null;
  #isReleased = false;

  /** Throws what keeps the file from being written; nothing is held then. */
  constructor(
    files: Files, descriptor: Descriptor, kind: LockKind, liveness: LivenessSocket | null,
    journalEnd: JournalEnd | null = null,
  ) {
    this.journalEnd = journalEnd;
    this.#files = files;
    this.#descriptor = descriptor;
    this.#kind = kind;
    this.#liveness = liveness;
    try {
      this.announce(null);
    } catch (error) {
      liveness?.end();
      throw error;
    }
  }

  /** Publishes the path of the control socket. */
  announce(socketPath: string | null): void {
    assert(!this.#isReleased, 'a released lock names nobody');
    const hasSocket = this.#liveness !== null;
    const owner = describeThisProcess(this.#files, this.#kind, socketPath, hasSocket);
    const file = this.#files.identifySync(this.#descriptor);
    replaceContent(
      this.#files, this.#descriptor, { ...owner, file, journal: this.journalEnd ?? undefined });
  }

  /** Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#liveness?.end();
    removeOwner(this.#files, this.#descriptor, this.journalEnd);
    this.#files.closeSync(this.#descriptor);
  }
}

/** Has the lock file name nobody. */
export function removeOwner(
  files: Files, descriptor: Descriptor, journal: JournalEnd | null,
): void {
  replaceContent(files, descriptor, { released: true, journal: journal ?? undefined });
}

function replaceContent(files: Files, descriptor: Descriptor, content: object): void {
  const bytes = Buffer.from(`${JSON.stringify(content)}\n`);
  files.writeSync(descriptor, bytes, 0);
  files.truncateSync(descriptor, bytes.length);
}

/** Null when the file is missing, or does not name an owner. */
export function readOwner(files: Files, path: string): NamedOwner | null {
  return readLockFile(files, path, parseOwner);
}

/** Null when the file is missing, or tells no end of a journal that holds something. */
export function readJournalEnd(files: Files, path: string): JournalEnd | null {
  return readLockFile(files, path, parseJournalEnd);
}

/** Calls `parse` with the text and the identity of the file; null when either call fails. */
function readLockFile<T>(
  files: Files, path: string, parse: (text: string, identity: string) => T | null,
): T | null {
  try {
    const descriptor = files.openSync(path, 'read');
    try {
      return parse(readStart(files, descriptor), files.identifySync(descriptor));
    } finally {
      files.closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

function parseJournalEnd(text: string): JournalEnd | null {
  const content: unknown = JSON.parse(text);
  if (!isJsonObject(content) || !isJsonObject(content['journal'])) return null;
  const { generation, sequence } = content['journal'];
  return typeof generation === 'number' && typeof sequence === 'number' && sequence > 0
    ? { generation, sequence } : null;
}

/** `identity` is the device and the inode number of the file that holds the text. */
function parseOwner(text: string, identity: string): NamedOwner | null {
  const owner: unknown = JSON.parse(text);
  if (!isJsonObject(owner)) return null;
  const { pid, kind, socketPath, startTime, bootId, namespace, hasSocket, file } = owner;
  if (typeof pid !== 'number' || (kind !== 'server' && kind !== 'command')) return null;
  return {
    pid, kind,
    socketPath: typeof socketPath === 'string' ? socketPath : null,
    startTime: String(startTime), bootId: String(bootId), namespace: String(namespace),
    hasSocket: hasSocket === true,
    isCopy: typeof file === 'string' && file !== identity,
  };
}

/** The path of the socket that belongs to a lock file. */
export function getLivenessPath(lockPath: string): string {
  return `${lockPath}.sock`;
}

/**
 * Whether the owner that `lockPath` names is alive. Its socket shows it. Without a socket its pid
 * does. Pids are reused, in a container within seconds and often by the same program, so the start
 * time must be the same, too. An owner from before a reboot, of another container, or of the lock
 * that this file is a copy of, counts as dead.
 */
export async function isAlive(
  files: Files, owner: NamedOwner, lockPath: string,
): Promise<boolean> {
  const socket = getLivenessPath(lockPath);
  // The socket may have been removed while the process is alive.
  if (owner.hasSocket && files.existsSync(socket)) return hasListener(socket, files);
  if (owner.isCopy || !isInThisNamespace(files, owner)) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (systemCodeOf(error) !== 'EPERM') return false;
  }
  return owner.startTime === readStartTime(files, owner.pid);
}
