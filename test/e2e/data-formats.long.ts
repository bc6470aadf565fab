/** The files as other programs read them, and files of a format that is not read. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { hookshelf } from './processes.ts';

const JOURNAL = 'journal-000001.jsonl';

test('what has another format is refused as a whole and kept', () => inFolder(async (data) => {
  await addBooks(data);
  const path = join(data, JOURNAL);
  const ours = readFileSync(path, 'utf8').trimEnd().split('\n');
  const [start = '', ...others] = ours;
  const [older = '', newer = ''] = [1, 3].map((format) =>
    seal(start.replace('hookshelf-journal-2', `hookshelf-journal-${format}`)));
  const sequence = JSON.parse(ours.at(-1) ?? '').seq;
  const unknown = seal(`{"crc":"00000000","seq":${sequence + 1},"durable":${sequence},"new":[]}`);
  const put = ours.findIndex((line) => line.includes('"put"'));
  const other = ours.map((line) => seal(line.replace('"put"', '"set"')));
  for (const [line, found, lines] of [
    [put + 1, 'whole, but of another format', other],
    [1, 'the format is hookshelf-journal-3', [newer]],
    [1, 'the format is hookshelf-journal-3', [newer, ...others]],
    [1, 'the format is hookshelf-journal-1', [older, ...others]],
    [ours.length + 1, 'whole, but of another format', [...ours, unknown]],
  ] as const) {
    writeFileSync(path, `${lines.join('\n')}\n`);
    const before = hashes(data);
    for (const [exitCode, ...words] of [[1, 'data:verify'], [4, 'serve', '--port', '0']] as const) {
      const { code, stderr } = await hookshelf([...words, '--data', data]);
      assert.equal(code, exitCode, stderr);
      assert.match(stderr, new RegExp(`^hookshelf: ${JOURNAL}, line ${line}, offset \\d+: `
        + `${found}, `
        + 'and this version reads hookshelf-journal-2 alone: go on with the hookshelf that wrote '
        + 'it, or begin with an empty place'));
      assert.deepEqual(hashes(data), before);
    }
  }
}));

test('a whole file with a record of another version is told, and a start does not read it', () =>
  inFolder(async (data) => {
    const made = await hookshelf(['outgoingwebhook:create', '--name', 'crm', '--target-url',
      'https://crm.example/', '--trigger-event', 'a', '--data', data]);
    assert.equal(made.code, 0, made.stderr);
    const path = join(data, JOURNAL);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n').map((line) =>
      line.includes('"targetUrl"') ? seal(line.replace('"targetUrl"', '"targetURL"')) : line);
    writeFileSync(path, `${lines.join('\n')}\n`);
    const before = hashes(data);
    for (const [exitCode, ...words] of [[1, 'data:verify'], [4, 'serve', '--port', '0']] as const) {
      const { code, stderr } = await hookshelf([...words, '--data', data]);
      assert.equal(code, exitCode, stderr);
      assert.match(stderr,
        /^hookshelf: a stored record is not sound, or of a version [^\n]*: \{"identifier":"[^"]+"/);
      assert.deepEqual(hashes(data), before);
    }
    const doctor = await hookshelf(['doctor', '--json', '--data', data]);
    const checks: { check: string; status: string }[] = JSON.parse(doctor.stdout);
    assert.equal(checks.find(({ check }) => check === 'store')?.status, 'failed');
  }));

async function addBooks(data: string): Promise<void> {
  for (const title of ['Ä', 'B']) {
    const input = JSON.stringify({ title });
    const { code, stderr } = await hookshelf(['book:add', '--input', input, '--data', data]);
    assert.equal(code, 0, stderr);
  }
}

function seal(line: string): string {
  return `{"crc":"${checksum(Buffer.from(line.slice(16)))}${line.slice(16)}`;
}

/** CRC-32 as everybody has it (IEEE 802.3), bit by bit: not the program's own. */
function checksum(bytes: Buffer): string {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0xedb88320 : 0);
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0');
}

function hashes(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory).filter((name) => !name.startsWith('lock')).sort();
  return Object.fromEntries(names.map((name) => {
    const content = readFileSync(join(directory, name));
    return [name, createHash('sha256').update(content).digest('hex')];
  }));
}
