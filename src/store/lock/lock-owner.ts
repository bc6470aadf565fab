/** The owner of a lock, as a lock file names it, and whether that process is alive. */
import { assert } from '../../base/assert.ts';
import { systemCodeOf } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { hasListener } from './liveness.ts';
import type { LivenessSocket } from './liveness.ts';
import {
  describeProcess, isInThisNamespace, readStartTime, readText,
} from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

export type LockKind = 'server' | 'command';

export type LockOwner = ProcessIdentity & {
  readonly kind: LockKind;
  /** Path of the control socket, null while there is none. */
  readonly socketPath: string | null;
  /** Whether the owner listens on a socket beside its lock file (liveness.ts). */
  readonly hasSocket: boolean;
};

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
  readonly #releasedContent: Buffer;
  #isReleased = false;

  /** `releasedContent` is what the file holds after the release. */
  constructor(
    files: Files, descriptor: Descriptor, kind: LockKind, liveness: LivenessSocket | null,
    releasedContent = Buffer.alloc(0),
  ) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.#kind = kind;
    this.#liveness = liveness;
    this.#releasedContent = releasedContent;
    this.announce(null);
  }

  /** Publishes the path of the control socket. */
  announce(socketPath: string | null): void {
    assert(!this.#isReleased, 'a released lock names nobody');
    const hasSocket = this.#liveness !== null;
    const owner = describeThisProcess(this.#files, this.#kind, socketPath, hasSocket);
    this.#replaceContent(Buffer.from(`${JSON.stringify(owner)}\n`));
  }

  /** Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#liveness?.end();
    this.#replaceContent(this.#releasedContent);
    this.#files.closeSync(this.#descriptor);
  }

  #replaceContent(bytes: Buffer): void {
    if (bytes.length > 0) this.#files.writeSync(this.#descriptor, bytes, 0);
    this.#files.truncateSync(this.#descriptor, bytes.length);
  }
}

/** Null when the file is missing, empty, or does not name an owner. */
export function readOwner(files: Files, path: string): LockOwner | null {
  try {
    const owner: unknown = JSON.parse(readText(files, path));
    if (!isJsonObject(owner)) return null;
    const { pid, kind, socketPath, startTime, bootId, namespace, hasSocket } = owner;
    if (typeof pid !== 'number' || (kind !== 'server' && kind !== 'command')) return null;
    return {
      pid, kind,
      socketPath: typeof socketPath === 'string' ? socketPath : null,
      startTime: String(startTime), bootId: String(bootId), namespace: String(namespace),
      hasSocket: hasSocket === true,
    };
  } catch {
    return null;
  }
}

/** The path of the socket that belongs to a lock file. */
export function getLivenessPath(lockPath: string): string {
  return `${lockPath}.sock`;
}

/**
 * Whether the owner that `lockPath` names is alive. Its socket shows it. Without a socket its pid
 * does. Pids are reused, in a container within seconds and often by the same program, so the start
 * time must be the same, too. An owner from before a reboot, or of another container, counts as
 * dead.
 */
export async function isAlive(files: Files, owner: LockOwner, lockPath: string): Promise<boolean> {
  const socket = getLivenessPath(lockPath);
  // The socket may have been removed while the process is alive.
  if (owner.hasSocket && files.existsSync(socket)) return hasListener(socket, files);
  if (!isInThisNamespace(files, owner)) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (systemCodeOf(error) !== 'EPERM') return false;
  }
  return owner.startTime === readStartTime(files, owner.pid);
}
