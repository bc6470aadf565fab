/**
 * Titles and first authors as they are compared to find the same book twice: without case,
 * accents, variants of presentation and runs of white space, of which many formats make a blank;
 * the initials of authors may be written in any way, and the family may come first, as in
 * `Ende, Michael`. Duplicates and imports agree in what is the same, and in what keeps two books
 * apart that have it in common: two editions, and two subtitles. A book without these is not kept
 * apart from any other. Pure.
 */
import { foldBlanks } from '../../base/text/fold-blanks.ts';
import { fold } from '../../base/text/fold.ts';
import { joinInitials } from '../../base/text/words.ts';
import { readFirstAuthor, readTitle } from './stored-fields.ts';

const SUBTITLE_SEPARATOR = ': ';

export type TitleKey = readonly [title: string, firstAuthor: string];

/** `authorName` is empty for a book without authors. */
export function createTitleKey(title: string, authorName: string): TitleKey {
  // Libraries write `Title : subtitle`.
  return [foldBlanks(fold(title)).replace(' : ', SUBTITLE_SEPARATOR),
    foldBlanks(joinInitials(fold(putFamilyLast(authorName))))];
}

/** The key of the title before its subtitle, `sapiens` of `sapiens: a brief history`, and that. */
export function splitTitleKey(
  titleKey: TitleKey,
): { readonly key: TitleKey; readonly subtitle: string | null } {
  const [title, firstAuthor] = titleKey;
  const end = title.indexOf(SUBTITLE_SEPARATOR);
  if (end < 1) return { key: titleKey, subtitle: null };
  return {
    key: [title.slice(0, end), firstAuthor],
    subtitle: title.slice(end + SUBTITLE_SEPARATOR.length),
  };
}

/** `Michael Ende` of `Ende, Michael`: good enough to compare a name that has one comma. */
export function putFamilyLast(name: string): string {
  const [family = '', given = '', ...others] = name.split(',');
  return given.trim() === '' || others.length > 0 ? name : `${given.trim()} ${family.trim()}`;
}

/** The title key of a stored book. */
export function readTitleKey(bytes: Buffer): TitleKey {
  return createTitleKey(readTitle(bytes), readFirstAuthor(bytes)?.name ?? '');
}
