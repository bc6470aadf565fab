/**
 * Tells which process a pid meant when it was written down. Pids are reused, in a container within
 * seconds and often by the same program, so the start time belongs to it; and a pid means nothing
 * after a reboot, or in another container.
 */
import type { Descriptor, Files } from '../disk/files.ts';

export type ProcessIdentity = {
  readonly pid: number;
  /** The start of the process in clock ticks since boot; `''` where the system has no /proc. */
  readonly startTime: string;
  readonly bootId: string;
  /**
   * The start time of process 1 as this process sees it. It differs in another container, and in a
   * restarted one, where the pid would mean another process.
   */
  readonly namespace: string;
};

const PROC_BYTES_MAX = 4096;
const FIRST_FIELD = 3;
const START_TIME_FIELD = 22;

export function describeProcess(files: Files, pid: number): ProcessIdentity {
  return {
    pid,
    startTime: readStartTime(files, pid),
    bootId: readText(files, '/proc/sys/kernel/random/boot_id').trim(),
    namespace: readStartTime(files, 1),
  };
}

/** Whether this identity's pid means anything here. */
export function isInThisNamespace(files: Files, identity: ProcessIdentity): boolean {
  const thisProcess = describeProcess(files, process.pid);
  return identity.bootId === thisProcess.bootId && identity.namespace === thisProcess.namespace;
}

/** The start time of a process in this namespace; `''` when it cannot be read. */
export function readStartTime(files: Files, pid: number): string {
  return readProcessFields(files, pid)[START_TIME_FIELD - FIRST_FIELD] ?? '';
}

/**
 * The fields of a process in Linux's /proc (proc(5), /proc/[pid]/stat) from the third on: the state
 * is the first of them. Empty when they cannot be read, as when the process has ended.
 */
export function readProcessFields(files: Files, pid: number): readonly string[] {
  const stat = readText(files, `/proc/${pid}/stat`);
  // The second field is the program's name in brackets, and may hold anything.
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The content of a small file; `''` when it cannot be read. */
function readText(files: Files, path: string): string {
  let descriptor: Descriptor;
  try {
    descriptor = files.openSync(path, 'read');
  } catch {
    return '';
  }
  try {
    return readStart(files, descriptor);
  } catch {
    return '';
  } finally {
    files.closeSync(descriptor);
  }
}

/** The first `PROC_BYTES_MAX` bytes of a file, which is more than a lock file has. */
export function readStart(files: Files, descriptor: Descriptor): string {
  const buffer = Buffer.alloc(PROC_BYTES_MAX);
  return buffer.toString('utf8', 0, files.readSync(descriptor, buffer, 0));
}
