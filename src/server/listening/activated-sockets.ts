/**
 * Sockets that a supervisor such as systemd has opened for us (sd_listen_fds(3)), and keeps while
 * we restart: what the kernel has queued there waits for the next process. They come as file
 * descriptors from 3 on, with three variables:
 *
 *   LISTEN_PID      the process that they are for; others ignore them
 *   LISTEN_FDS      how many there are
 *   LISTEN_FDNAMES  their names, with colons between; for people
 */
import { AppError } from '../../base/errors.ts';
import { quote } from '../../base/text/error-message.ts';

export type ActivatedSocket = {
  readonly descriptor: number;
  /** The supervisor's name for the socket; `unknown` if it tells no name. */
  readonly name: string;
};

const DESCRIPTOR_MIN = 3;
const SOCKETS_MAX = 64;
/** A parent that starts us under a memory cap does not know our process id beforehand. */
const PARENT_PREFIX = 'parent-';

/**
 * The sockets for this process; none where there are no variables, or those of another process.
 * Removes the variables, which our own children must not take for theirs. Throws `usage` for a
 * count that is none.
 */
export function takeActivatedSockets(
  environment: Record<string, string | undefined>, process: { pid: number; ppid: number },
): readonly ActivatedSocket[] {
  const { LISTEN_PID: owner, LISTEN_FDS: countText = '', LISTEN_FDNAMES: names = '' } = environment;
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'LISTEN_PIDFDID']) {
    delete environment[name];
  }
  if (owner !== `${process.pid}` && owner !== `${PARENT_PREFIX}${process.ppid}`) return [];
  const count = /^\d{1,4}$/.test(countText) ? Number(countText) : Infinity;
  if (count > SOCKETS_MAX) {
    throw new AppError('usage', `LISTEN_FDS must be a number from 0 to ${SOCKETS_MAX}, not `
      + `${quote(countText)}: it says how many sockets the supervisor passes`);
  }
  const nameList = names.split(':');
  return Array.from({ length: count }, (_, index) =>
    ({ descriptor: DESCRIPTOR_MIN + index, name: nameList[index] || 'unknown' }));
}

/** The variables for a child of ours that gets the sockets as descriptors from 3 on. */
export function formatActivation(
  sockets: readonly ActivatedSocket[], pid: number,
): Readonly<Record<string, string>> {
  return {
    LISTEN_PID: `${PARENT_PREFIX}${pid}`, LISTEN_FDS: `${sockets.length}`,
    LISTEN_FDNAMES: sockets.map(({ name }) => name).join(':'),
  };
}
