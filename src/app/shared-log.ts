/**
 * The engine that the settings name, and who we are to it: the UUID in `node.json` of the data
 * directory, `{"node":"<uuid>"}`, made at the first start with an engine.
 */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import { CONFIGURATION_BYTES_MAX, readBounded } from '../base/files/bounded-read.ts';
import { parseJsonStrictly } from '../base/json/parse.ts';
import { lazyImport } from '../base/lazy-import.ts';
import type { Logger } from '../base/log.ts';
import { createIdSource, isUuid } from '../base/uuid.ts';
import type { Settings } from '../settings/load-settings.ts';
import { isStoreName } from '../store/disk/inventory.ts';
import type { Files } from '../store/disk/files.ts';
import type { Replica } from '../store/store-port.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { SharedLog } from '../store/store.ts';

const loadEngines = lazyImport(() => import('../store/engines/open-engine.ts'));
const NODE_FILE = 'node.json';

/** The engine of `store.url`; null: the store is files in the data directory. Throws `usage`. */
export async function createConfiguredEngine(settings: Settings): Promise<Engine | null> {
  const { url } = settings.store;
  return url === null ? null : createEngine(url, settings.store.passwordFile);
}

/** The engine at a URL. Throws `usage`. */
export async function createEngine(url: string, passwordFile: string | null): Promise<Engine> {
  return loadEngines(({ openEngine }) =>
    openEngine(url, { passwordFile, passFile: process.env.PGPASSFILE ?? null }));
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
  const node = readNodeId(join(data, NODE_FILE)) ?? createNodeId(data, clock);
  return { engine, node, mayCreate: role === 'server' };
}

/** Logs at each start what the engine promises of a write that it has acknowledged. */
export function announceEngine(replica: Replica | null, logger: Logger): void {
  if (replica === null) return;
  const { engine, durability } = replica;
  logger.info('the journal is kept by an engine', { engine, promise: durability });
}

function readNodeId(path: string): string | null {
  let bytes: Buffer;
  try {
    ({ bytes } = readBounded(path, { bytesMax: CONFIGURATION_BYTES_MAX, isRegular: true }));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return null;
    throw new AppError('unavailable', `cannot read ${path}: ${messageOf(thrown)}`, {}, thrown);
  }
  try {
    const value = parseJsonStrictly(bytes);
    if (isJsonObject(value) && typeof value['node'] === 'string' && isUuid(value['node'])) {
      return value['node'];
    }
  } catch {
    // Refused below.
  }
  throw new AppError('damaged', `${path} does not hold {"node":"<uuid>"}; remove it, and this `
    + 'becomes a new node');
}

function createNodeId(data: string, clock: Clock): string {
  const node = createIdSource(clock)();
  const path = join(data, NODE_FILE);
  const descriptor = openSync(`${path}.tmp`, 'w', 0o600);
  try {
    writeSync(descriptor, `{"node":"${node}"}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.tmp`, path);
  return node;
}
