/** `serve`: in this process, or in one that is started under a memory cap. */
import { statSync } from 'node:fs';
import { AppError } from '../../../base/errors.ts';
import type { ActivatedSocket } from '../../../server/listening/activated-sockets.ts';
import { START_EXIT_CODES, reportError } from '../../report-error.ts';
import type { CommandContext } from '../command-context.ts';

const MEGABYTES_MIN = 64;
const MEGABYTES_MAX = 1_048_576;
const MEBIBYTE = 1 << 20;

/** Options that say how the file of `--apply` is applied. */
const APPLY_OPTIONS = ['prune', 'set', 'no-overlap', 'keep', 'yes'];

export async function serve(context: CommandContext): Promise<number> {
  try {
    return await start(context);
  } catch (thrown) {
    return reportError(thrown, context.args.has('debug'), context.io, START_EXIT_CODES);
  }
}

async function start(context: CommandContext): Promise<number> {
  checkApplyOptions(context);
  const sockets = await takeSockets(context);
  const megabytes = context.args.integer('max-memory', MEGABYTES_MIN, MEGABYTES_MAX);
  if (megabytes !== undefined) {
    rejectPipedSettings(context);
    // Reports wrong settings before a second process is started. A process that will switch to
    // another user reports them itself.
    if (!context.identity.needsSwitch) context.loadSettings();
    const { isCapped, runCapped } = await import('../../process/memory-cap.ts');
    if (!isCapped(megabytes)) {
      return runCapped(megabytes, () => context.identity.becomeOwner(), sockets);
    }
  }
  const { runServer } = await import('./run-server.ts');
  return runServer(context, {
    maxMemoryBytes: megabytes === undefined ? Infinity : megabytes * MEBIBYTE,
    activatedSockets: sockets,
  });
}

/** Options that name what a supervisor has already opened. */
const ADDRESS_OPTIONS = ['port', 'host'];

/** The sockets that a supervisor has opened for us. Throws `usage` for an address beside them. */
async function takeSockets({ args }: CommandContext): Promise<readonly ActivatedSocket[]> {
  const { env } = process;
  if (env['LISTEN_PID'] === undefined && env['LISTEN_FDS'] === undefined) return [];
  const { takeActivatedSockets } =
    await import('../../../server/listening/activated-sockets.ts');
  const sockets = takeActivatedSockets(env, process);
  const option = ADDRESS_OPTIONS.find((name) => args.has(name));
  if (sockets.length === 0 || option === undefined) return sockets;
  throw new AppError('usage', `--${option} beside sockets of a supervisor (LISTEN_FDS): hookshelf `
    + `listens on these alone; leave --${option} out and name the address in the unit of the `
    + 'socket (ListenStream=), or start without that unit');
}

function checkApplyOptions({ args }: CommandContext): void {
  if (args.find('apply') === '-') {
    throw new AppError('usage',
      '--apply takes a file, and not standard input: at SIGHUP and SIGUSR1 it is read again');
  }
  const name = args.has('apply') ? undefined : APPLY_OPTIONS.find((option) => args.has(option));
  if (name === undefined) return;
  throw new AppError('usage', `--${name} is for --apply: name the file with --apply <file>`);
}

/** Throws `usage` for a pipe: we have read it, and the process under the cap could not do so. */
function rejectPipedSettings({ args }: CommandContext): void {
  const path = args.find('config');
  const status = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  if (status === undefined || status.isFile()) return;
  throw new AppError('usage', `--config ${path} is not a regular file, as it must be beside `
    + '--max-memory, which starts another process that reads it as well');
}
