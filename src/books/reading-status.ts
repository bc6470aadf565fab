/** The statuses of a book to its reader, and the words that people use for them. */
import { fold } from '../base/text/fold.ts';

export const READING_STATUSES = ['to-read', 'reading', 'paused', 'read', 'abandoned'] as const;
export type ReadingStatus = (typeof READING_STATUSES)[number];

/** In English, German, French and Spanish, folded, with blanks for hyphens. */
const WORDS: Readonly<Record<ReadingStatus, string>> = {
  'to-read': 'to read, toread, tbr, want to read, unread, not read, planned, zu lesen, '
    + 'noch zu lesen, ungelesen, geplant, a lire, non lu, por leer, pendiente, no leido',
  'reading': 'reading, currently reading, in progress, started, lese ich, lese gerade, am lesen, '
    + 'angefangen, begonnen, en cours, en cours de lecture, leyendo, en curso',
  'paused': 'paused, on hold, pausiert, unterbrochen, en pause, pausado, en pausa',
  'read': 'read, already read, done, finished, completed, complete, gelesen, ausgelesen, fertig, '
    + 'beendet, lu, termine, leido, terminado',
  'abandoned': 'abandoned, dnf, did not finish, gave up, given up, dropped, stopped, '
    + 'stopped reading, abgebrochen, abandonne, abandonado',
};

const STATUSES: ReadonlyMap<string, ReadingStatus> = new Map(READING_STATUSES.flatMap((status) =>
  WORDS[status].split(', ').map((word) => [word, status] as const)));

const WORD_LENGTH_MAX = 64;

/** The status that a word means, whatever its case, accents and hyphens. */
export function findReadingStatus(word: string): ReadingStatus | undefined {
  if (word.length > WORD_LENGTH_MAX) return undefined;
  return STATUSES.get(fold(word.trim()).replace(/[-_]/g, ' '));
}
