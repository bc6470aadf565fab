/** How mistyped words are corrected, the slow and obvious way. Shares no code with src. */
import { naiveFold, naiveWords } from './naive-list.ts';
import type { NaiveBook } from './naive-list.ts';

/** Optimal string alignment, by its definition. */
export function naiveDistance(from: string, to: string): number {
  const left = [...from];
  const right = [...to];
  const known = new Map<number, number>();
  const distance = (row: number, column: number): number => {
    if (row === 0 || column === 0) return row + column;
    const key = row * 1000 + column;
    const before = known.get(key);
    if (before !== undefined) return before;
    const cost = left[row - 1] === right[column - 1] ? 0 : 1;
    let least = Math.min(distance(row - 1, column) + 1, distance(row, column - 1) + 1,
      distance(row - 1, column - 1) + cost);
    if (row > 1 && column > 1 && left[row - 1] === right[column - 2]
      && left[row - 2] === right[column - 1]) {
      least = Math.min(least, distance(row - 2, column - 2) + 1);
    }
    known.set(key, least);
    return least;
  };
  return distance(left.length, right.length);
}

/** The words of a book that `q` looks at, or `author`, in scripts with spaces. */
function listWords(
  { title, subtitle, authors, keywords, isbn }: NaiveBook, condition: 'q' | 'author',
): Set<string> {
  const names = authors.map(({ name }) => name);
  const texts = condition === 'author' ? names
    : [title, subtitle, isbn, ...keywords ?? [], ...names];
  return new Set(texts.flatMap((text) => naiveWords(text ?? '')));
}

/** The corrections of the words of a condition, which are letters and spaces. */
export function naiveCorrections(
  books: readonly NaiveBook[], text: string, condition: 'q' | 'author' = 'q',
): ReadonlyMap<string, string> {
  const bookCounts = new Map<string, number>();
  for (const word of books.flatMap((book) => [...listWords(book, condition)])) {
    bookCounts.set(word, (bookCounts.get(word) ?? 0) + 1);
  }
  const corrections = new Map<string, string>();
  for (const word of naiveFold(text).split(' ')) {
    const { length } = [...word];
    if (length < 4 || /\d/.test(word)) continue;
    if ([...bookCounts.keys()].some((other) => other.startsWith(word))) continue;
    const [nearest] = [...bookCounts]
      .map(([other, count]) => ({ other, count, distance: naiveDistance(word, other) }))
      .filter(({ distance }) => distance <= (length < 8 ? 1 : 2))
      .sort((left, right) => left.distance - right.distance || right.count - left.count
        || Buffer.compare(Buffer.from(left.other), Buffer.from(right.other)));
    if (nearest !== undefined) corrections.set(word, nearest.other);
  }
  return corrections;
}
