/** Finds identifiers by their beginning or end, as people at a prompt type them. */
import type { Collection } from '../store/port.ts';

// A turn of the loop takes about 2 ms.
const KEYS_A_TURN = 5000;

/**
 * The identifier that `part` is, else those that begin or end with it, at most `matchesMax`. Other
 * requests have their turns while all keys are looked at.
 */
export async function findIdentifiers(
  collection: Collection, part: string, matchesMax: number,
): Promise<readonly string[]> {
  if (part === '') return [];
  if (collection.bytesOf(part) !== undefined) return [part];
  const matches = beginningWith(collection, part, matchesMax);
  for (let slot = 0; slot < collection.slotBound && matches.length < matchesMax; slot += 1) {
    if (slot % KEYS_A_TURN === KEYS_A_TURN - 1) await new Promise(setImmediate);
    const id = collection.idAt(slot);
    if (id?.endsWith(part) === true && !matches.includes(id)) matches.push(id);
  }
  return matches;
}

/** Keys are in order: all that begin alike stand together. */
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
