/** Ends what the commands of an earlier process have left, and removes their folders. */
import { sleep, type Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { isInThisNamespace, readStartTime } from '../../../store/lock/process-identity.ts';
import type { RelayContext } from '../../relay-context.ts';
import { TERMINATION_MS } from './command-process.ts';
import {
  holdsFileBelow, killSession, listProcesses, signalSession, worksBelow, type ProcessEntry,
} from './process-table.ts';
import { listRunFolders, type RunFolder } from './run-folder.ts';

const POLL_MS = 20;
const files = createNodeFiles();

/**
 * Resolves when all has ended. Only the holder of the data directory's lock may call this. What
 * cannot be ended or removed is logged.
 */
export async function recoverCommandRuns(
  { clock, log }: Pick<RelayContext, 'clock' | 'log'>, runsFolder: string,
): Promise<void> {
  const folders = listRunFolders(runsFolder);
  if (folders.length === 0) return;
  const processes = await listProcesses();
  const sessionIds = new Set(folders.flatMap((folder) => findSessions(folder, processes)));
  await Promise.all([...sessionIds].map(async (sessionId) => {
    const hasEnded = await endSession(sessionId, clock);
    if (hasEnded) log.warning('a command that was left running has been ended', { pid: sessionId });
    else log.error('a command that was left running cannot be ended', { pid: sessionId });
  }));
  for (const folder of folders) await removeFolder(folder, log);
}

/**
 * Finds the sessions of a run's command. The noted process is the command only if it has the same
 * start time. If it has ended before what it started, or was not noted, the session is known by
 * processes that work in the folder, or write there.
 */
function findSessions(folder: RunFolder, processes: readonly ProcessEntry[]): number[] {
  const noted = folder.readProcess();
  if (noted === null) {
    return processes.filter(({ pid }) => holdsFileBelow(pid, folder.path))
      .map(({ sessionId }) => sessionId);
  }
  if (!isInThisNamespace(files, noted)) return [];
  const startTime = readStartTime(files, noted.pid);
  if (startTime !== '' && startTime === noted.startTime) return [noted.pid];
  return processes
    .filter(({ pid, sessionId }) => sessionId === noted.pid
      && (holdsFileBelow(pid, folder.path) || worksBelow(pid, folder.path)))
    .map(({ sessionId }) => sessionId);
}

async function endSession(sessionId: number, clock: Clock): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + TERMINATION_MS;
  let count = await signalSession(sessionId, 'SIGTERM');
  while (count > 0 && clock.monotonicMs() < deadlineMs) {
    await sleep(clock, POLL_MS);
    count = (await listProcesses()).filter((entry) => entry.sessionId === sessionId).length;
  }
  return count === 0 || killSession(sessionId, clock);
}

async function removeFolder(folder: RunFolder, log: Logger): Promise<void> {
  try {
    await folder.remove();
  } catch (error) {
    log.warning('the folder of a command run cannot be removed', { folder: folder.path, error });
  }
}
