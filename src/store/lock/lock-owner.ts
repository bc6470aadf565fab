/** The owner of a lock, as a lock file names it, and whether that process is alive. */
import { systemCodeOf } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { hasListener } from './liveness.ts';
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

/** Replaces the content of a lock file. */
export function writeOwner(files: Files, descriptor: Descriptor, owner: LockOwner): void {
  const { hasSocket, ...members } = owner;
  const bytes = Buffer.from(`${JSON.stringify({ ...members, hasLifeSign: hasSocket })}\n`);
  files.writeSync(descriptor, bytes, 0);
  files.truncateSync(descriptor, bytes.length);
}

/** Null when the file is missing, empty, or does not name an owner. */
export function readOwner(files: Files, path: string): LockOwner | null {
  try {
    const owner: unknown = JSON.parse(readText(files, path));
    if (!isJsonObject(owner)) return null;
    const { pid, kind, socketPath, startTime, bootId, namespace, hasLifeSign } = owner;
    if (typeof pid !== 'number' || (kind !== 'server' && kind !== 'command')) return null;
    return {
      pid, kind,
      socketPath: typeof socketPath === 'string' ? socketPath : null,
      startTime: String(startTime), bootId: String(bootId), namespace: String(namespace),
      hasSocket: hasLifeSign === true,
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
