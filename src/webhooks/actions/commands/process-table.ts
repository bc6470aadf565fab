/**
 * The processes of this system, as Linux lists them in /proc; where there is no /proc, none. A
 * command runs as the leader of a session of its own, which holds its process group and the groups
 * that shells with job control, or timeout(1), make in it.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { sleep, type Clock } from '../../../base/clock.ts';
import { systemCodeOf } from '../../../base/errors.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { readProcessFields } from '../../../store/lock/process-identity.ts';

export type ProcessEntry = {
  readonly pid: number;
  readonly groupId: number;
  readonly sessionId: number;
};

/** Entries read in one turn of the event loop, about a millisecond. */
const TURN_ENTRIES = 100;
const ENDED_STATES = ['Z', 'X'];
const STANDARD_DESCRIPTORS = [0, 1, 2];
const POLL_MS = 10;
/** A process that forks while it is killed needs several rounds. */
const KILL_ROUNDS_MAX = 50;
const files = createNodeFiles();

/** All processes but ended ones that are not reaped yet. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  const names = listNames().filter((name) => /^\d+$/.test(name));
  for (const [index, name] of names.entries()) {
    if (index % TURN_ENTRIES === TURN_ENTRIES - 1) await new Promise(setImmediate);
    const entry = readEntry(Number(name));
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

function listNames(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

function readEntry(pid: number): ProcessEntry | null {
  const [state, , group, session] = readProcessFields(files, pid);
  return state === undefined || ENDED_STATES.includes(state) ? null
    : { pid, groupId: Number(group), sessionId: Number(session) };
}

/** Whether standard input, output or error is a file below `folder`. */
export function holdsFileBelow(pid: number, folder: string): boolean {
  return STANDARD_DESCRIPTORS.some((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith(`${folder}/`);
    } catch {
      return false;
    }
  });
}

export function worksBelow(pid: number, folder: string): boolean {
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

/** Returns false for a group that is gone, or may not be signalled. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (thrown) {
    if (['ESRCH', 'EPERM'].includes(systemCodeOf(thrown) ?? '')) return false;
    throw thrown;
  }
}

/** Signals each group of a session. Returns the number of its processes. */
export async function signalSession(sessionId: number, signal: NodeJS.Signals): Promise<number> {
  const members = (await listProcesses()).filter((entry) => entry.sessionId === sessionId);
  for (const groupId of new Set(members.map((entry) => entry.groupId))) {
    signalGroup(groupId, signal);
  }
  return members.length;
}

/** Resolves with false when some of the session is still there in the end. */
export async function killSession(sessionId: number, clock: Clock): Promise<boolean> {
  for (let round = 0; round < KILL_ROUNDS_MAX; round += 1) {
    if (await signalSession(sessionId, 'SIGKILL') === 0) return true;
    await sleep(clock, POLL_MS);
  }
  return false;
}
