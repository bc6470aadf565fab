/**
 * The engine that the settings name, and who we are to it: the UUID in `node.json` of the data
 * directory, `{"node":"<uuid>"}`, made at the first start with an engine.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import { parseJsonStrictly } from '../base/json/parse.ts';
import { lazyImport } from '../base/lazy-import.ts';
import type { Logger } from '../base/log.ts';
import { createIdSource, isUuid } from '../base/uuid.ts';
import type { Settings } from '../settings/load-settings.ts';
import { diskError } from '../store/disk/disk-error.ts';
import { isStoreName } from '../store/disk/inventory.ts';
import type { Files } from '../store/disk/files.ts';
import { readSmallFile, replaceFile } from '../store/disk/read-write.ts';
import type { Replica } from '../store/store-port.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { SharedLog } from '../store/store.ts';

// The code of an engine is loaded only when its URL is used.
const loadEtcdEngine = lazyImport(() => import('../store/engines/etcd/etcd-engine.ts'));
const loadPostgresEngine = lazyImport(() => import('../store/engines/postgres/postgres-engine.ts'));
const NODE_FILE = 'node.json';
/** A sound file has some 50. */
const NODE_FILE_BYTES_MAX = 4096;

/** The engine of `store.url`; null: the store is files in the data directory. Throws `usage`. */
export async function createConfiguredEngine(settings: Settings): Promise<Engine | null> {
  const { url } = settings.store;
  return url === null ? null : createEngine(url, settings.store.passwordFile);
}

/** The engine at a URL; nothing is connected yet. Throws `usage`. */
export async function createEngine(url: string, passwordFile: string | null): Promise<Engine> {
  const files = { passwordFile, passFile: process.env.PGPASSFILE ?? null };
  return /^etcds?:/.test(url)
    ? loadEtcdEngine(({ createEtcdEngine }) => createEtcdEngine({ url, passwordFile }))
    : loadPostgresEngine(({ createPostgresEngine }) => createPostgresEngine(url, files));
}

type SharedLogOptions = {
  readonly data: string; readonly files: Files; readonly settings: Settings;
  readonly logger: Logger; readonly clock: Clock;
  /** A command begins no log: in a wrong database it would silently find nothing. */
  readonly role: 'server' | 'command';
};

/**
 * The engine and this node for `openStore`; null without an engine. Writes `node.json` at the first
 * start. The caller holds the lock.
 */
export async function prepareSharedLog(
  { data, files, settings, logger, clock, role }: SharedLogOptions,
): Promise<SharedLog | null> {
  const engine = await createConfiguredEngine(settings);
  if (engine === null) return null;
  if (files.listSync(data).some(isStoreName)) {
    logger.warning('the data directory holds a store of files, which is not used while store.url '
      + 'is set', { data, engine: engine.name });
  }
  const path = join(data, NODE_FILE);
  const node = await readNodeId(files, path) ?? await createNodeId(files, path, clock);
  return { engine, node, mayCreate: role === 'server' };
}

/** Logs at each start what the engine promises of a write that it has acknowledged. */
export function announceEngine(replica: Replica | null, logger: Logger): void {
  if (replica === null) return;
  const { engine, durability } = replica;
  logger.info('the journal is kept by an engine', { engine, promise: durability });
}

/** The node's UUID; null at the first start. Throws `damaged`, or `unavailable` for the disk. */
async function readNodeId(files: Files, path: string): Promise<string | null> {
  let bytes: Buffer | null;
  try {
    bytes = await readSmallFile(files, path, NODE_FILE_BYTES_MAX);
  } catch (thrown) {
    throw diskError(`cannot read ${path}`, thrown);
  }
  if (bytes === null) return null;
  const node = parseNodeId(bytes);
  if (node !== null) return node;
  throw new AppError('damaged', `${path} does not hold {"node":"<uuid>"}; remove it, and this `
    + 'becomes a new node');
}

function parseNodeId(bytes: Buffer): string | null {
  let value: unknown;
  try {
    value = parseJsonStrictly(bytes);
  } catch {
    return null;
  }
  const node = isJsonObject(value) ? value['node'] : null;
  return typeof node === 'string' && isUuid(node) ? node : null;
}

async function createNodeId(files: Files, path: string, clock: Clock): Promise<string> {
  const node = createIdSource(clock)();
  await replaceFile(files, path, Buffer.from(`{"node":"${node}"}\n`));
  return node;
}
