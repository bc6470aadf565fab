import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION } from '../../src/base/version.ts';

test('the version is that of package.json', () => {
  const path = new URL('../../package.json', import.meta.url);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).version, VERSION);
});
