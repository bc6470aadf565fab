/** "Did you mean": the known name that is closest to a mistyped one. */
import { editDistance } from './edit-distance.ts';

// A word with one slip in three letters still reads as that word; with more slips it does not.
const LETTERS_PER_SLIP = 3;
const CONTAINED_LETTERS_MIN = 4;
// No known name is longer, and the time to compare grows with the length.
const NAME_LENGTH_MAX = 64;

/**
 * The candidate that was most likely meant, or null when none is near enough. Nearest is the same
 * words in another order or spelling (`publisheddate`, `date_published`: `datePublished`), then the
 * smallest edit distance (insert, delete, replace, swap neighbours; case does not count); but the
 * one candidate that begins with the name goes before one with two slips or more. Then a candidate
 * that holds the name or is held by it (`language`: `inLanguage`), and then the one candidate of
 * which the name is a short form (`args`: `arguments`).
 */
export function findNearest(name: string, candidates: Iterable<string>): string | null {
  if (name.length > NAME_LENGTH_MAX) return null;
  const lowerName = name.toLowerCase();
  const nameLetters = sortLetters(name);
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(lowerName.length / LETTERS_PER_SLIP)) + 1;
  let containment: string | null = null;
  const completions: string[] = [];
  const longForms: string[] = [];
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase();
    if (sortLetters(candidate) === nameLetters) return candidate;
    if (lower.startsWith(lowerName)) completions.push(candidate);
    if (isShortForm(lowerName, lower)) longForms.push(candidate);
    if (Math.min(lower.length, lowerName.length) >= CONTAINED_LETTERS_MIN
      && (lower.includes(lowerName) || lowerName.includes(lower))) containment ??= candidate;
    if (Math.abs(lower.length - lowerName.length) >= bestDistance) continue;
    const distance = editDistance(lowerName, lower, bestDistance - 1);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  const [completion] = completions;
  const isCompletion = lowerName.length >= CONTAINED_LETTERS_MIN && completions.length === 1;
  if (isCompletion && completion !== undefined && bestDistance > 1) return completion;
  const [longForm = null] = longForms;
  return best ?? containment ?? (longForms.length === 1 ? longForm : null);
}

/** Whether the name begins as the candidate, and has letters of it alone, in their order. */
function isShortForm(name: string, candidate: string): boolean {
  if (name.length < CONTAINED_LETTERS_MIN || name[0] !== candidate[0]) return false;
  let at = 0;
  for (const letter of candidate) {
    if (letter === name[at]) at += 1;
  }
  return at === name.length;
}

/** The end of an error message about `name`: what was likely meant; empty when nothing is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = findNearest(name, candidates);
  return near === null ? '' : `: did you mean \`${near}\`?`;
}

function sortLetters(name: string): string {
  return [...name.toLowerCase().replace(/[^a-z0-9]/g, '')].sort().join('');
}
