/** Finds identifiers by their beginning or end, or that of a name, for completion at a prompt. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { resolveKey } from '../resources/resolve-key.ts';
import type { Collection } from '../store/store-port.ts';

// Looking at so many keys takes about 2 ms.
const TURN_KEYS = 5000;

/**
 * The identifier that equals `part` or has it as a name; else at most `matchesMax` that begin or
 * end with it, or have a name that does. Other requests run while it looks at all keys.
 */
export async function findIdentifiers(
  collection: Collection, part: string, matchesMax: number,
): Promise<readonly string[]> {
  if (part === '') return [];
  const exactMatch = resolveKey(collection, part);
  if (exactMatch !== undefined) return [exactMatch];
  const matches = findByPrefix(collection, part, matchesMax);
  for (let slot = 0; slot < collection.slotBound && matches.length < matchesMax; slot += 1) {
    if (slot % TURN_KEYS === TURN_KEYS - 1) await nextTurn();
    const id = collection.idAt(slot);
    if (id?.endsWith(part) === true && !matches.includes(id)) matches.push(id);
  }
  for (const [name, id] of collection.idByName) {
    const matchesPart = name.startsWith(part) || name.endsWith(part);
    if (matchesPart && matches.length < matchesMax && !matches.includes(id)) matches.push(id);
  }
  return matches;
}

/** Finds keys by their beginning: in key order they are neighbours. */
function findByPrefix(collection: Collection, part: string, matchesMax: number): string[] {
  const matches: string[] = [];
  const walk = collection.walk({ after: part });
  while (matches.length < matchesMax) {
    const id = collection.idAt(walk.next());
    if (id?.startsWith(part) !== true) break;
    matches.push(id);
  }
  return matches;
}
