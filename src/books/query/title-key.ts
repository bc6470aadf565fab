/**
 * Titles and first authors as they are compared to find the same book twice: without case,
 * accents, variants of presentation and runs of white space, of which many formats make a blank;
 * the initials of authors may be written in any way. Duplicates and imports agree in what is the
 * same. Pure.
 */
import { foldBlanks } from '../../base/text/fold-blanks.ts';
import { fold } from '../../base/text/fold.ts';
import { joinInitials } from '../../base/text/words.ts';
import { readFirstAuthor, readTitle } from './stored-fields.ts';

export type TitleKey = readonly [title: string, firstAuthor: string];

/** `authorName` is empty for a book without authors. */
export function createTitleKey(title: string, authorName: string): TitleKey {
  return [foldBlanks(fold(title)), foldBlanks(joinInitials(fold(authorName)))];
}

/** The title key of a stored book. */
export function readTitleKey(bytes: Buffer): TitleKey {
  return createTitleKey(readTitle(bytes), readFirstAuthor(bytes)?.name ?? '');
}
