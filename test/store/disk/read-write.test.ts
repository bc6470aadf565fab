import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFully, readLines, writeFully } from '../../../src/store/disk/read-write.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

const PATH = '/data/file';

/** An open file with this content, whose reads and writes take at most `bytesMax` bytes each. */
function openFile(content: string, bytesMax = Infinity) {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/data');
  const descriptor = files.openSync(PATH, 'create');
  files.writeSync(descriptor, Buffer.from(content), 0);
  files.onCall = ({ kind, bytes }) =>
    kind === 'read' || kind === 'write' ? { bytes: Math.min(bytes, bytesMax) } : null;
  return { files, descriptor, content: () => files.disk.node(files.disk.find(PATH) ?? -1).current };
}

async function linesOf(content: string, bytesMax: number): Promise<string[]> {
  const { files, descriptor } = openFile(content, bytesMax);
  const lines: string[] = [];
  await readLines(files, descriptor, (buffer, start, end, offset, isComplete) => {
    lines.push(`${offset} ${buffer.toString('utf8', start, end)}${isComplete ? '' : ' (cut)'}`);
  });
  return lines;
}

test('each line is visited once with its offset, however few bytes a read gives', async () => {
  const expected = ['0 one', '4 ', '5 three', '11 four (cut)'];
  for (const bytesMax of [1, 2, 3, 5, 7, 100]) {
    assert.deepEqual(await linesOf('one\n\nthree\nfour', bytesMax), expected, `${bytesMax}`);
  }
  assert.deepEqual(await linesOf('', 1), []);
});

test('a line may be longer than one read', async () => {
  const long = 'x'.repeat(3 << 20);
  assert.deepEqual(await linesOf(`${long}\nend\n`, 1 << 20), [`0 ${long}`, `${(3 << 20) + 1} end`]);
});

test('all bytes are read and written, however few a call takes', async () => {
  const { files, descriptor, content } = openFile('0123456789', 3);
  await writeFully(files, descriptor, Buffer.from('abcdefg'), 2);
  assert.equal(content().toString(), '01abcdefg9');
  const target = Buffer.alloc(20);
  assert.equal(await readFully(files, descriptor, target, 1), 9);
  assert.equal(target.toString('utf8', 0, 9), '1abcdefg9');
});

test('a disk that takes no bytes and names no error is full', async () => {
  const { files, descriptor } = openFile('');
  files.write = async () => 0;
  await assert.rejects(writeFully(files, descriptor, Buffer.from('a'), 0), { code: 'ENOSPC' });
});
