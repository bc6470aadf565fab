/** The checks of `doctor` for the machine: Node, the disk, the limit of open files, the clock. */
import { readdirSync, statSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DESCRIPTORS_RESERVED, readDescriptorsMax } from '../../../app/room-options.ts';
import { BUILD, formatBuild } from '../../../base/version.ts';
import { formatValue, expectObject } from '../resource-commands.ts';
import { failed, hint, ok, warning } from './doctor-finding.ts';
import type { DoctorFinding, DoctorSubject } from './doctor-finding.ts';

const GIBIBYTE = 1024 ** 3;
const MEBIBYTE = 1024 ** 2;
const FREE_BYTES_MIN = GIBIBYTE;
// Below this a write may be refused at any time.
const FULL_BYTES_MAX = MEBIBYTE;
// A clock that shows a time before this program existed is wrong.
const CLOCK_MS_MIN = Date.UTC(2025, 0, 1);
/** A time so far ahead may be that of another machine's clock. */
export const CLOCK_SLACK_MS = 60_000;

/** After an upgrade the old program may still run. */
export function checkVersion({ getServer }: DoctorSubject): DoctorFinding {
  const server = getServer();
  if (server === null) return ok(`hookshelf ${BUILD}`);
  const { version, commit } = server.status;
  const serverBuild = formatBuild(formatValue(version), typeof commit === 'string' ? commit : null);
  return serverBuild === BUILD ? ok(`hookshelf ${BUILD}`)
    : hint(`the server is hookshelf ${serverBuild}, and this command ${BUILD}`,
      'restart the server where both should be the same');
}

export function checkNode({ getServer }: DoctorSubject): DoctorFinding {
  return ok(`Node ${formatValue(getServer()?.status['node'] ?? process.versions.node)}`);
}

export function checkDisk({ context }: DoctorSubject): DoctorFinding {
  let folder = context.enterDataAsOwner();
  while (statSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const size = freeBytes < GIBIBYTE ? `${(freeBytes / MEBIBYTE).toFixed(1)} MiB`
    : `${(freeBytes / GIBIBYTE).toFixed(1)} GiB`;
  const detail = `${size} free for ${folder}`;
  if (freeBytes < FULL_BYTES_MAX) return failed(detail, 'free some room: writes get 507');
  return freeBytes >= FREE_BYTES_MIN
    ? ok(detail) : warning(detail, 'a compaction needs as much room as the data has');
}

export function checkLimits(
  { settings: { server: { maxConnections } }, getServer }: DoctorSubject,
): DoctorFinding {
  const running = getServer();
  const filesMax = running === null ? readDescriptorsMax()
    : expectObject(running.status['server'])['openFilesMax'];
  const isLimited = typeof filesMax === 'number' && filesMax !== Infinity;
  const detail = `${isLimited ? filesMax : 'no limit known of'} open files, ${maxConnections} `
    + 'connections wanted';
  const filesMin = maxConnections + DESCRIPTORS_RESERVED;
  return !isLimited || filesMax >= filesMin ? ok(detail)
    : warning(detail, `ulimit -n ${filesMin}, or lower server.maxConnections; fewer connections `
      + 'are accepted as it is');
}

export function checkClock({ context: { enterDataAsOwner, io } }: DoctorSubject): DoctorFinding {
  const nowMs = io.now();
  const time = new Date(nowMs).toISOString();
  if (nowMs < CLOCK_MS_MIN) return failed(`the clock shows ${time}`, 'set the clock');
  const newestMs = findNewestChangeMs(enterDataAsOwner());
  return newestMs > nowMs + CLOCK_SLACK_MS
    ? warning(`the clock shows ${time}, before the newest file was written`, 'set the clock')
    : ok(`the clock shows ${time}`);
}

function findNewestChangeMs(directory: string): number {
  try {
    return readdirSync(directory).reduce((newest, name) =>
      Math.max(newest, statSync(join(directory, name)).mtimeMs), 0);
  } catch {
    return 0;
  }
}
