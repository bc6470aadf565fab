/** One version everywhere: between releases that of the next one, which the changelog tells of. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/base/version.ts';
import { openHookshelf } from '../support/embedded.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('the version is that of the package and of its lock file', () => {
  const lock = readJson('package-lock.json');
  const versions = [readJson('package.json').version, lock.version, lock.packages[''].version];
  assert.deepEqual(versions, [VERSION, VERSION, VERSION]);
});

test('the changelog begins with the version, not yet released while it ends in -dev', () => {
  const [, next, state] = /^## (\S+?)(, not yet released)?\n/m
    .exec(read('src/manual/changelog.md')) ?? [];
  assert.equal(VERSION, state === undefined ? next : `${next}-dev`);
});

test('the manual installs the tarball of this version', () => {
  const names = read('src/manual/installing.md').match(/hookshelf-[\d.]+\S*\.tgz/g);
  assert.deepEqual(new Set(names), new Set([`hookshelf-${VERSION}.tgz`]));
});

test('a server tells it at its root and in its description', async (context) => {
  const shelf = await openHookshelf(context);
  const root = await shelf.request('GET', '/');
  const description = await shelf.request('GET', '/openapi.json');
  assert.equal(Object(root.body).version, VERSION);
  assert.equal(Object(description.body).info.version, VERSION);
});

function readJson(name: string) {
  return JSON.parse(read(name));
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}
