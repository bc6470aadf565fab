/** Finds identifiers by their beginning or end, as people type them at a prompt. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection } from '../store/port.ts';

// That many take about 2 ms.
const KEYS_A_TURN = 5000;

/**
 * The identifier that equals `part`, else those that begin or end with it, at most `matchesMax`.
 * Lets other requests run while it looks at all keys.
 */
export async function findIdentifiers(
  collection: Collection, part: string, matchesMax: number,
): Promise<readonly string[]> {
  if (part === '') return [];
  if (collection.bytesOf(part) !== undefined) return [part];
  const matches = beginningWith(collection, part, matchesMax);
  for (let slot = 0; slot < collection.slotBound && matches.length < matchesMax; slot += 1) {
    if (slot % KEYS_A_TURN === KEYS_A_TURN - 1) await nextTurn();
    const id = collection.idAt(slot);
    if (id?.endsWith(part) === true && !matches.includes(id)) matches.push(id);
  }
  return matches;
}

/** Keys are in order: those with the same beginning stand together. */
function beginningWith(collection: Collection, part: string, matchesMax: number): string[] {
  const matches: string[] = [];
  const walk = collection.walk({ after: part });
  while (matches.length < matchesMax) {
    const id = collection.idAt(walk.next());
    if (id?.startsWith(part) !== true) break;
    matches.push(id);
  }
  return matches;
}
