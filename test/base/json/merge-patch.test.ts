import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyMergePatch } from '../../../src/base/json/merge-patch.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';

/** RFC 7396, appendix A. */
const APPENDIX: readonly (readonly [target: string, patch: string, result: string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

test('the examples of RFC 7396 come out as printed there', () => {
  for (const [target, patch, result] of APPENDIX) {
    const merged = applyMergePatch(JSON.parse(target), JSON.parse(patch));
    assert.equal(JSON.stringify(merged), result, `${target} + ${patch}`);
  }
});

test('any target and patch give what the algorithm of the RFC gives, and stay as they were', () => {
  const random = createRandom(7396);
  let changed = 0;
  for (let round = 0; round < 3000; round += 1) {
    const target = randomJson(random, 3);
    const patch = randomJson(random, 3);
    const before = JSON.stringify([target, patch]);
    const merged = applyMergePatch(target, patch);
    assert.equal(JSON.stringify([target, patch]), before);
    assert.deepEqual(toMaps(merged), mergePatchOfTheRfc(toMaps(target), toMaps(patch)), before);
    const isMerged = toMaps(target) instanceof Map && toMaps(patch) instanceof Map;
    if (isMerged && JSON.stringify(merged) !== JSON.stringify(target)) changed += 1;
  }
  assert.ok(changed > 200, `${changed} objects were changed by objects`);
});

test('__proto__ is a member like any other, and prototypes stay untouched', () => {
  const patch: unknown = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":1}}');
  const merged = applyMergePatch({ title: 'A' }, patch);
  assert.equal(JSON.stringify(merged),
    '{"title":"A","__proto__":{"isAdmin":true},"constructor":{"prototype":1}}');
  assert.equal(Object.getPrototypeOf(merged), Object.prototype);
  assert.equal(Reflect.get({}, 'isAdmin'), undefined);
  const deep = applyMergePatch(merged, JSON.parse('{"__proto__":{"isAdmin":null}}'));
  assert.equal(JSON.stringify(deep),
    '{"title":"A","__proto__":{},"constructor":{"prototype":1}}');
  assert.equal(JSON.stringify(applyMergePatch({}, JSON.parse('{"toString":{"a":1}}'))),
    '{"toString":{"a":1}}');
});

type Mapped = null | boolean | number | string | readonly unknown[] | Map<string, Mapped>;

/** The pseudocode of section 2, over maps, where no name is special. */
function mergePatchOfTheRfc(target: Mapped, patch: Mapped): Mapped {
  if (!(patch instanceof Map)) return patch;
  const result = new Map(target instanceof Map ? target : []);
  for (const [name, value] of patch) {
    if (value === null) {
      if (result.has(name)) result.delete(name);
    } else {
      result.set(name, mergePatchOfTheRfc(result.get(name) ?? null, value));
    }
  }
  return result;
}

function toMaps(value: unknown): Mapped {
  if (Array.isArray(value)) return value;
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, member]) => [name, toMaps(member)]));
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value : null;
}

const NAMES = ['a', 'b', 'c', '__proto__', 'toString', '1'];

function randomJson(random: Random, depth: number): unknown {
  const kind = below(random, depth > 0 ? 8 : 4);
  if (kind === 0) return null;
  if (kind === 1) return below(random, 3);
  if (kind === 2) return 'text';
  if (kind === 3) return [randomJson(random, 0)];
  const names = NAMES.filter(() => below(random, 2) === 0);
  return Object.fromEntries(names.map((name) => [name, randomJson(random, depth - 1)]));
}
