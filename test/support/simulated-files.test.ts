import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk, Survival } from './simulated-disk.ts';
import { cuts, SimulatedFiles } from './simulated-files.ts';

const DROPPED: Survival = { kind: 'dropped' };
const KEPT: Survival = { kind: 'kept' };

function createFile(files: SimulatedFiles, path: string, text: string): number {
  const descriptor = files.openSync(path, 'create');
  files.writeSync(descriptor, Buffer.from(text), 0);
  return descriptor;
}

function textAfter(disk: Disk, survival: Survival, path = '/a'): string | null {
  const after = disk.crash(survival);
  return after.find(path) === undefined ? null : after.read(path).toString('latin1');
}

/** Every different content that 200 seeds leave. */
function outcomes(disk: Disk, pageBytes: number, path = '/a'): Set<string | null> {
  return new Set(Array.from({ length: 200 }, (_, seed) =>
    textAfter(disk, { kind: 'random', seed, pageBytes }, path)));
}

test('a file survives a lost machine only when both it and its directory were synced', () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', 'one');
  files.datasyncSync(descriptor);
  assert.equal(textAfter(files.disk, DROPPED), null);
  assert.equal(textAfter(files.disk, KEPT), 'one');
  files.syncDirectorySync('/');
  assert.equal(textAfter(files.disk, DROPPED), 'one');
  files.writeSync(descriptor, Buffer.from('two'), 3);
  assert.equal(textAfter(files.disk, DROPPED), 'one');
  assert.equal(textAfter(files.disk, KEPT), 'onetwo');
});

test('what lies in a directory whose own entry was not synced is lost', () => {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/x/y');
  files.datasyncSync(createFile(files, '/x/y/a', 'one'));
  files.syncDirectorySync('/x/y');
  files.syncDirectorySync('/x');
  assert.equal(textAfter(files.disk, DROPPED, '/x/y/a'), null);
  files.syncDirectorySync('/');
  assert.equal(textAfter(files.disk, DROPPED, '/x/y/a'), 'one');
  assert.deepEqual(files.listSync('/x/y'), ['a']);
  assert.deepEqual(files.listSync('/x'), []);
});

test('unsynced pages survive in any combination, with lost bytes read as zeros', () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', '');
  files.syncDirectorySync('/');
  files.writeSync(descriptor, Buffer.from('aabbc'), 0);
  const seen = outcomes(files.disk, 2);
  for (const text of ['', 'aabbc', 'aabb\0', '\0\0bbc', 'aa\0\0c', '\0\0\0\0\0']) {
    assert.ok(seen.has(text), JSON.stringify(text));
  }
  files.datasyncSync(descriptor);
  files.truncateSync(descriptor, 3);
  assert.ok([...outcomes(files.disk, 2)].every((text) =>
    ['aab', 'aabbc', 'aab\0c', 'aab\0\0', 'aabb\0'].includes(text ?? '')));
});

test('unsynced renames and deletions survive in any combination', () => {
  const files = new SimulatedFiles();
  files.datasyncSync(createFile(files, '/a', 'old'));
  files.datasyncSync(createFile(files, '/b', 'new'));
  files.syncDirectorySync('/');
  files.renameSync('/b', '/a');
  assert.deepEqual(outcomes(files.disk, 64), new Set(['old', 'new']));
  files.unlinkSync('/a');
  assert.deepEqual(outcomes(files.disk, 64), new Set(['old', 'new', null]));
});

test('a sync covers what was written before it began, not what is written meanwhile', async () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', 'one');
  files.syncDirectorySync('/');
  const synced = files.datasync(descriptor);
  files.writeSync(descriptor, Buffer.from('two'), 3);
  await synced;
  assert.equal(textAfter(files.disk, DROPPED), 'one');
});

test('a failed sync loses pages that reads still show and no later sync brings back', () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', 'one');
  files.syncDirectorySync('/');
  files.onCall = (call) => call.kind === 'datasync' ? { code: 'EIO' } : null;
  assert.throws(() => files.datasyncSync(descriptor), { code: 'EIO' });
  files.onCall = () => null;
  files.datasyncSync(descriptor);
  assert.equal(files.disk.read('/a').toString(), 'one');
  assert.equal(textAfter(files.disk, DROPPED), '');
});

test('a full disk takes what fits, then refuses, until there is room', async () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', 'one');
  files.bytesMax = 5;
  assert.equal(await files.write(descriptor, Buffer.from('two'), 3), 2);
  assert.throws(() => files.writeSync(descriptor, Buffer.from('o'), 5), { code: 'ENOSPC' });
  assert.equal(files.writeSync(descriptor, Buffer.from('ONE'), 0), 3);
  files.bytesMax = 6;
  assert.equal(files.writeSync(descriptor, Buffer.from('o'), 5), 1);
  assert.equal(files.disk.read('/a').toString(), 'ONEtwo');
});

test('told faults happen: short writes, short reads, failed renames', () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', 'one');
  files.onCall = ({ kind }) => kind === 'rename' ? { code: 'EIO' } : { bytes: 1 };
  assert.equal(files.writeSync(descriptor, Buffer.from('xyz'), 0), 1);
  assert.equal(files.readSync(descriptor, Buffer.alloc(3), 0), 1);
  assert.throws(() => files.renameSync('/a', '/b'), { code: 'EIO' });
  assert.equal(files.disk.read('/a').toString(), 'xne');
});

test('calls fail as the system fails them', () => {
  const files = new SimulatedFiles();
  files.closeSync(createFile(files, '/a', 'one'));
  assert.deepEqual(files.openPaths, []);
  assert.throws(() => files.openSync('/a', 'create'), { code: 'EEXIST' });
  assert.throws(() => files.openSync('/b', 'read'), { code: 'ENOENT' });
  assert.throws(() => files.openSync('/x/b', 'create'), { code: 'ENOENT' });
  assert.throws(() => files.unlinkSync('/b'), { code: 'ENOENT' });
  assert.throws(() => files.closeSync(99), { code: 'EBADF' });
  const reader = files.openSync('/a', 'read');
  assert.throws(() => files.writeSync(reader, Buffer.from('x'), 0), { code: 'EBADF' });
});

test('a history is cut before and after every operation and at every byte of every write', () => {
  const files = new SimulatedFiles();
  const descriptor = createFile(files, '/a', 'one');
  files.datasyncSync(descriptor);
  files.syncDirectorySync('/');
  const seen = Array.from(cuts(files), ({ index, tornBytes, disk }) =>
    [index, tornBytes, textAfter(disk, KEPT), textAfter(disk, DROPPED)]);
  assert.deepEqual(seen, [
    [0, null, null, null],
    [1, null, '', null], [1, 1, 'o', null], [1, 2, 'on', null],
    [2, null, 'one', null], [3, null, 'one', null], [4, null, 'one', 'one'],
  ]);
});
