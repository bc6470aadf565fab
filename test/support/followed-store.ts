/** A store that is followed, and a copy of it, each on a simulated disk, without a network. */
import { Readable } from 'node:stream';
import { AppError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { CopyFollower } from '../../src/followers/copy-follower.ts';
import { Followers } from '../../src/followers/followers.ts';
import type { ApiCall } from '../../src/server/local/api-call.ts';
import { openCopy } from '../../src/store/copy/copy.ts';
import type { Copy } from '../../src/store/copy/copy.ts';
import { EPOCHS } from '../../src/store/epochs.ts';
import type { CollectionSpec } from '../../src/store/store-port.ts';
import { openStore } from '../../src/store/store.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { ManualClock } from './manual-clock.ts';
import { Disk } from './simulated-disk.ts';
import { SimulatedFiles } from './simulated-files.ts';

export const SERVER = '/srv/data';
export const COPY = '/var/copy';
export const SPECS: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }, EPOCHS];

export async function openServer(files: SimulatedFiles, clock = new ManualClock()) {
  const store = await openStore({
    directory: SERVER, files, specs: SPECS, logger: silentLogger, clock,
  });
  const followers = new Followers({ store, files, clock, logger: silentLogger });
  return { store, followers, clock };
}

export function createCopyDisk(): SimulatedFiles {
  const files = new SimulatedFiles(new Disk());
  files.makeDirectorySync(COPY);
  for (const path of ['/', '/var']) files.syncDirectorySync(path);
  return new SimulatedFiles(files.disk);
}

export function openCopyOn(files: SimulatedFiles, clock = new ManualClock()): Promise<Copy> {
  return openCopy({ directory: COPY, files, clock, logger: silentLogger, specs: SPECS });
}

/** What answers at the address of the server; a test may put another there. */
type ServerAddress = { readonly followers: Followers };

/** Follows as `data:follow` does; `chunkBytes` is how the network cuts what comes. */
export function createFollower(
  copy: Copy, address: ServerAddress, clock: ManualClock, chunkBytes = 1 << 16,
) {
  const notes: string[] = [];
  const client = {
    async stream({ path }: ApiCall) {
      const { followers } = address;
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      const response = new Readable({ read: () => {} });
      if (pathname === '/api/follow/backup') {
        const backup = await followers.openBackup({ mayFollow: () => true });
        void pump(backup.pull, response, chunkBytes).finally(backup.close);
        return response;
      }
      const place = {
        copy: searchParams.get('copy') ?? '', name: searchParams.get('name') ?? '', address: '::1',
      };
      const position = {
        epoch: searchParams.get('epoch') ?? '', sequence: Number(searchParams.get('after')),
      };
      const log = await followers.open(place, position, {
        mayFollow: () => true, cut: () => response.destroy(),
      });
      response.once('close', () => followers.leave(place.copy, log));
      void pump(() => log.pull(), response, chunkBytes);
      return response;
    },
    async request({ body }: ApiCall) {
      if (typeof body !== 'object' || body === null) throw new AppError('invalid', 'no body');
      const { copy: id, sequence } = { copy: '', sequence: 0, ...body };
      address.followers.confirm(id, sequence);
    },
  };
  const follower = new CopyFollower({
    client, copy, clock, name: 'box', note: (text) => void notes.push(text),
  });
  return { follower, notes };
}

async function pump(
  pull: () => Promise<readonly Buffer[] | null>, response: Readable, chunkBytes: number,
): Promise<void> {
  try {
    for (;;) {
      const pieces = await pull();
      if (pieces === null || response.destroyed) break;
      const bytes = Buffer.concat(pieces);
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        response.push(bytes.subarray(at, at + chunkBytes));
      }
    }
    response.push(null);
  } catch (thrown) {
    response.destroy(thrown instanceof Error ? thrown : undefined);
  }
}

export function addBook(store: OpenedStore, id: string, text = ''): Promise<unknown> {
  return store.transact((transaction) =>
    transaction.put('books', id, JSON.stringify({ id, text })));
}
