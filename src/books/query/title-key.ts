/**
 * Titles and first authors as they are compared to find the same book twice: without case, accents
 * and variants of presentation. Duplicates and imports agree in what is the same. Pure.
 */
import { fold } from '../../base/text/fold.ts';
import { readFirstAuthor, readTitle } from './stored-fields.ts';

type TitleKey = readonly [title: string, firstAuthor: string];

/** `authorName` is empty for a book without authors. */
export function createTitleKey(title: string, authorName: string): TitleKey {
  return [fold(title), fold(authorName)];
}

/** The title key of a stored book. */
export function readTitleKey(bytes: Buffer): TitleKey {
  return createTitleKey(readTitle(bytes), readFirstAuthor(bytes)?.name ?? '');
}
