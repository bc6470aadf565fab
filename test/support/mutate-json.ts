/** Values one step away from a JSON value: what a careless or hostile sender makes of a body. */
import { below } from './random.ts';
import type { Random } from './random.ts';

const STRANGE: readonly unknown[] = [
  null, true, false, 0, -1, 1.5, 1e300, '', ' ', '\u0000', '😀', 'x'.repeat(30_000), [], {},
  [null], [[]], [{}], { nope: 1 }, { '': 0 }, '2001-02-30', 'ftp://x', '*', '../..', '%zz',
  '{{', '\ud800',
];
const NAMES = ['__proto__', 'constructor', 'toString', 'length', 'nope', 'ID', '', 'a/b~c'];

/** One random step: a value replaced, a member or item dropped, added or said twice. */
export function mutate(value: unknown, random: Random): unknown {
  const isInside = typeof value === 'object' && value !== null && random() < 0.85;
  if (!isInside) return STRANGE[below(random, STRANGE.length)];
  return Array.isArray(value)
    ? mutateList(value, random)
    : Object.fromEntries(mutateEntries(Object.entries(value), random));
}

function mutateList(list: readonly unknown[], random: Random): unknown[] {
  const index = below(random, list.length);
  const kind = random();
  if (list.length === 0 || kind < 0.2) {
    return [...list, STRANGE[below(random, STRANGE.length)]];
  }
  if (kind < 0.4) return [...list, list[index]];
  return list.with(index, mutate(list[index], random));
}

function mutateEntries(
  entries: readonly [string, unknown][], random: Random,
): readonly [string, unknown][] {
  const index = below(random, entries.length);
  const kind = random();
  if (entries.length === 0 || kind < 0.15) {
    const name = NAMES[below(random, NAMES.length)] ?? '';
    return [...entries, [name, STRANGE[below(random, STRANGE.length)]]];
  }
  if (kind < 0.3) return entries.toSpliced(index, 1);
  const [name, value] = entries[index] ?? ['', null];
  if (kind < 0.4) return entries.with(index, [name.toUpperCase(), value]);
  return entries.with(index, [name, mutate(value, random)]);
}
