/** The check of `doctor` for the backups that a server makes by itself. */
import { findNewestBackup } from '../../../app/backups.ts';
import { explainFileError } from '../../../base/file-error.ts';
import { formatValue, expectObject } from '../resource-commands.ts';
import { CLOCK_SLACK_MS } from './doctor-machine.ts';
import { failed, ok, warning } from './doctor-finding.ts';
import type { DoctorFinding, DoctorSubject } from './doctor-finding.ts';

const HOUR_MS = 3_600_000;
/** A backup may be late by as much as its interval. */
const LATE_INTERVALS = 2;

export function checkBackups(
  { context: { enterDataAsOwner, io }, settings, getServer }: DoctorSubject,
): DoctorFinding {
  const server = getServer();
  if (settings.server.paused) return ok('none are made by itself, as server.paused is on');
  if (server !== null) return describeBackups(server.status['backups'], io.now());
  const { to, everyHours } = settings.backup;
  if (to === null || everyHours === 0) return ok('none are made without data:backup');
  try {
    const newest = findNewestBackup(to, enterDataAsOwner(), io.now());
    return newest === null ? warning(`there is none in ${to} yet`, 'start the server')
      : ok(`the newest is ${newest} in ${to}`);
  } catch (thrown) {
    return failed(`backup.to cannot be used (${explainFileError(thrown)})`, 'correct backup.to');
  }
}

/** `backups` is a member of the answer to `GET /api/status`. */
export function describeBackups(backups: unknown, nowMs: number): DoctorFinding {
  if (typeof backups !== 'object' || backups === null) {
    return ok('the server makes none by itself');
  }
  const { to, everyHours, newestAt, failure } = expectObject(backups);
  if (typeof failure === 'object' && failure !== null) {
    const { at, reason } = expectObject(failure);
    return failed(`the last one failed at ${formatValue(at)}: ${formatValue(reason)}`,
      'mend that; the server tries again within the hour');
  }
  if (typeof newestAt !== 'string') return ok('another node makes them, or the first is under way');
  const detail = `the newest is of ${newestAt}, in ${formatValue(to)}`;
  const newestMs = Date.parse(newestAt);
  // Until then no backup would look late.
  if (newestMs > nowMs + CLOCK_SLACK_MS) {
    return warning(`${detail}, which this clock has yet to reach`,
      'set the clock of the server right, and that of this machine');
  }
  const lateMs = nowMs - newestMs - LATE_INTERVALS * Number(everyHours) * HOUR_MS;
  return lateMs > HOUR_MS ? warning(detail, 'see the log for why no newer one was made')
    : ok(detail);
}
