/** The planted faults still fit the program. Whether each is found, `npm run test:faults` says. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { PLANTED_FAULTS } from './catalogue.ts';
import { plantFault } from './fault.ts';

const ROOT = resolve(import.meta.dirname, '../..');

for (const [room, faults] of Object.entries(PLANTED_FAULTS)) {
  test(`faults of ${room} have their places, and tests that are there`, () => {
    for (const fault of faults) {
      const source = readFileSync(join(ROOT, 'src', fault.file), 'utf8');
      assert.notEqual(plantFault(source, fault), source);
      for (const file of fault.tests) assert.ok(existsSync(join(ROOT, 'test', file)), file);
    }
  });
}

test('no fault is planted twice', () => {
  const places = Object.values(PLANTED_FAULTS).flat()
    .map(({ file, text, replacement }) => `${file}: ${text} -> ${replacement}`);
  assert.deepEqual(places.filter((place, index) => places.indexOf(place) !== index), []);
});
