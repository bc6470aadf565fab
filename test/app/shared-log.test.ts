/** The UUID by which the nodes of a shared log know this one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareSharedLog } from '../../src/app/shared-log.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { isUuid } from '../../src/base/uuid.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';

const ENVIRONMENT = { HOOKSHELF_STORE_URL: 'etcd://127.0.0.1:1/hookshelf' };

/** Reads the node's UUID, as a start with an engine does, which connects to nothing yet. */
async function readNode(files: SimulatedFiles): Promise<string> {
  const { settings } = loadSettings({ environment: ENVIRONMENT });
  const sharedLog = await prepareSharedLog({
    data: '/data', files, settings, logger: silentLogger, clock: systemClock, role: 'server',
  });
  assert(sharedLog !== null);
  return sharedLog.node;
}

function createFiles(): SimulatedFiles {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/data');
  return files;
}

function writeNodeFile(files: SimulatedFiles, text: string): void {
  const descriptor = files.openSync('/data/node.json', 'create');
  files.writeSync(descriptor, Buffer.from(text), 0);
  files.closeSync(descriptor);
}

test('a node keeps the UUID that its first start has made', async () => {
  const files = createFiles();
  const node = await readNode(files);
  assert(isUuid(node));
  assert.equal(await readNode(files), node);
});

test('a write that fails leaves no half of a UUID', async () => {
  const files = createFiles();
  files.onCall = ({ kind }) => kind === 'write' ? { bytes: 10, code: 'ENOSPC' } : null;
  await assert.rejects(readNode(files), { code: 'ENOSPC' });
  files.onCall = () => null;
  assert(isUuid(await readNode(files)));
});

for (const text of ['', '{"node":"7"}', '[]', '{"node":']) {
  test(`a node.json of ${JSON.stringify(text)} stops the start`, async () => {
    const files = createFiles();
    writeNodeFile(files, text);
    await assert.rejects(readNode(files), { code: 'damaged', message: /remove it/ });
  });
}

test('a node.json that cannot be read stops the start', async () => {
  const files = createFiles();
  writeNodeFile(files, '{}');
  files.onCall = ({ kind }) => kind === 'read' ? { code: 'EIO' } : null;
  await assert.rejects(readNode(files), { code: 'unavailable', message: /node\.json.*EIO/ });
});
