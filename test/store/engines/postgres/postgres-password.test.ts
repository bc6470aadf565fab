import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  findPassword, parsePostgresUrl,
} from '../../../../src/store/engines/postgres/postgres-url.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';

const folder = createTemporaryFolder();
const HOST = { host: 'h.test', port: 5432 };
const bare = parsePostgresUrl('postgres://u@h.test/b');

function fileOf(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test('the URL comes first, then the password file, then PGPASSFILE', () => {
  const passwordFile = fileOf('one', 'from file\n');
  const passFile = fileOf('pass', 'h.test:5432:b:u:from pgpass\n');
  const inUrl = parsePostgresUrl('postgres://u:from%20url@h.test/b');
  assert.equal(findPassword(inUrl, HOST, { passwordFile, passFile }), 'from url');
  assert.equal(findPassword(bare, HOST, { passwordFile, passFile }), 'from file');
  assert.equal(findPassword(bare, HOST, { passwordFile: null, passFile }), 'from pgpass');
  assert.equal(findPassword(bare, HOST, { passwordFile: null, passFile: null }), null);
});

const LINES: readonly (readonly [string, string | null])[] = [
  ['*:*:*:*:any', 'any'],
  ['# h.test:5432:b:u:comment\nother:5432:b:u:no\nh.test:*:b:u:second', 'second'],
  ['h.test:5432:b:u:with\\:colon\\\\', 'with:colon\\'],
  ['h.test:5433:b:u:no\nh.test:5432:c:u:no\nh.test:5432:b:v:no', null],
  ['h.test:5432:b', null],
];
for (const [text, expected] of LINES) {
  test(`of ${JSON.stringify(text)} the password is ${expected ?? 'none'}`, () => {
    const passFile = fileOf('lines', text);
    assert.equal(findPassword(bare, HOST, { passwordFile: null, passFile }), expected);
  });
}

test('a folder of sockets is `localhost` in PGPASSFILE', () => {
  const passFile = fileOf('local', 'localhost:5432:b:u:local');
  const place = { host: '/run/pg', port: 5432 };
  assert.equal(findPassword(bare, place, { passwordFile: null, passFile }), 'local');
});

const WRONG: readonly (readonly [string, string, RegExp])[] = [
  ['is open to others', fileOf('open', 'planted', 0o644), /is open to other users; chmod 600/],
  ['is empty', fileOf('empty', '\nplanted'), /begins with an empty line/],
  ['is missing', join(folder, 'missing'), /cannot read the password file: ENOENT/],
  ['is too large', fileOf('large', `planted\n${' '.repeat(1 << 20)}`),
    /cannot read the password file: it is larger than 1048576 bytes/],
];
for (const [what, passwordFile, pattern] of WRONG) {
  test(`a password file that ${what} is refused`, () => {
    assert.throws(() => findPassword(bare, HOST, { passwordFile, passFile: null }), (thrown) => {
      assert.match(String(thrown), pattern);
      assert.doesNotMatch(String(thrown), /planted/);
      return true;
    });
  });
}
