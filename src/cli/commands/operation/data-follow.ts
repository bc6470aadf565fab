/** `data:follow`: keeps a copy of the data of a server elsewhere. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isLoopbackName } from '../../../access/host-check.ts';
import { COLLECTIONS } from '../../../app.ts';
import { makeDataDirectory } from '../../../app/data-directory.ts';
import { systemClock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { loadLazyModules } from '../../../base/lazy-import.ts';
import { CopyFollower } from '../../../followers/copy-follower.ts';
import { FOLLOWER_NAME_LENGTH_MAX } from '../../../followers/follow-routes.ts';
import { SERVER_VARIABLE } from '../../../settings/settings-sources.ts';
import { openCopy } from '../../../store/copy/copy.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { Identity } from '../../process/identity.ts';
import { createProcessLogger } from '../../terminal/process-logger.ts';
import type { CommandContext } from '../command-context.ts';
import { withDirectoryLock } from './directory-lock.ts';

/** With --once it ends when the copy is level; else it follows until it is stopped. */
export async function followData(context: CommandContext): Promise<number> {
  const { args, io, output } = context;
  checkServer(context);
  const name = args.find('name') ?? hostname().slice(0, FOLLOWER_NAME_LENGTH_MAX);
  if (name.length > FOLLOWER_NAME_LENGTH_MAX) {
    throw new AppError('usage', `--name has at most ${FOLLOWER_NAME_LENGTH_MAX} characters, not `
      + `${name.length}`);
  }
  // The client reads the token now: the owner of the copy may not be allowed to.
  const client = await context.openApiClient();
  const { settings } = context.loadSettings();
  const directory = resolve(args.get('to'));
  await becomeOwnerOf(directory);
  makeDataDirectory(directory);
  const files = createNodeFiles();
  return withDirectoryLock(directory, files, async () => {
    const logger = createProcessLogger(settings, io, 'warning');
    const copy = await openCopy({
      directory, files, clock: systemClock, logger, specs: COLLECTIONS,
    });
    try {
      const follower = new CopyFollower({
        client, copy, clock: systemClock, name,
        note: (text) => output.isJson ? undefined : output.note(text),
      });
      if (!args.has('once')) return await follower.follow();
      await follower.becomeLevel();
      const { sequence } = copy;
      await output.result({ to: directory, sequence, isLevel: true },
        `${directory} is level with the server, at transaction ${sequence}`);
      return 0;
    } finally {
      await copy.close();
    }
  });
}

/** Throws `usage` where no server is named, and where others could read what it sends. */
function checkServer({ args, io }: CommandContext): void {
  const url = args.find('server') ?? (io.environment[SERVER_VARIABLE] || undefined);
  if (url === undefined) {
    throw new AppError('usage', 'data:follow copies from a server elsewhere: name it with --server '
      + '<url>');
  }
  const { protocol, hostname: host } = new URL(url);
  if (protocol === 'https:' || isLoopbackName(host.replace(/^\[|\]$/g, ''))) return;
  throw new AppError('usage', 'what data:follow reads holds secrets: name the server with https:// '
    + '(http:// is for this machine alone, as through an SSH tunnel)');
}

/** Root becomes the directory's owner, who then owns the files that are written. */
async function becomeOwnerOf(directory: string): Promise<void> {
  const identity = new Identity(directory);
  if (!identity.needsSwitch) return;
  // The owner may not be allowed to read the program.
  await loadLazyModules();
  identity.becomeOwner();
}
