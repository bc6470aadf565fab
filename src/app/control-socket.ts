/** Chooses the control socket's path: in the data directory, unless that would be too long. */
import { lstatSync, mkdirSync, mkdtempSync, rmSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import { SOCKET_PATH_BYTES_MAX } from '../base/network/unix-socket.ts';
import { loadCrypto } from '../base/node-modules.ts';

const SOCKET_NAME = 'control.sock';

/**
 * `<data>/control.sock`; where that is longer than a socket's path may be, one in a folder that is
 * made under the run-time directory.
 */
export function makeControlSocketPath(data: string): string {
  const path = join(data, SOCKET_NAME);
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path;
  return join(makeSocketFolder(data), SOCKET_NAME);
}

/**
 * Makes a folder that we alone can use. All users may write in its parent, so another user may have
 * made a folder of this name before: then ours gets a random name.
 */
function makeSocketFolder(data: string): string {
  const digest = loadCrypto().createHash('sha256').update(data).digest('hex').slice(0, 16);
  const parents = [process.env['XDG_RUNTIME_DIR'] ?? '', tmpdir()].filter((path) => path !== '');
  let problem: unknown = null;
  for (const parent of parents) {
    const folder = join(parent, `hookshelf-${digest}`);
    try {
      return makeOwnFolder(folder) ? folder : mkdtempSync(`${folder}-`);
    } catch (thrown) {
      // We may not write in the run-time directory of root once we have become another user.
      problem ??= thrown;
    }
  }
  throw new AppError('conflict', `cannot make a folder for the control socket (`
    + `${messageOf(problem)}): set XDG_RUNTIME_DIR, or name a shorter data directory`, {}, problem);
}

/**
 * Makes the folder. Returns true, too, if a killed server of ours has left it; false when others
 * could use the folder that is there.
 */
function makeOwnFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'EEXIST') throw thrown;
  }
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.geteuid?.()
    && (status.mode & 0o777) === 0o700;
}

/** Removes the socket, and its folder unless others have put something there. */
export function removeSocketFolder(folder: string): void {
  try {
    rmSync(join(folder, SOCKET_NAME), { force: true });
    rmdirSync(folder);
  } catch (thrown) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCodeOf(thrown) ?? '')) throw thrown;
  }
}
