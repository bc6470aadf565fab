/** The format of a book (hardcover, e-book and so on) by the words that other programs use. */
import { fold } from '../../../base/text/fold.ts';
import type { Book } from '../../book.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

type BookFormatName = NonNullable<Book['bookFormat']>;

/** The words that say what the model says, and no more. */
const SAME_WORDS: ReadonlyMap<string, BookFormatName> = new Map([
  ['hardcover', 'Hardcover'], ['hardback', 'Hardcover'], ['paperback', 'Paperback'],
  ['softcover', 'Paperback'], ['ebook', 'EBook'], ['e-book', 'EBook'],
  ['audiobook', 'AudiobookFormat'], ['audiobookformat', 'AudiobookFormat'],
  ['graphic novel', 'GraphicNovel'], ['graphicnovel', 'GraphicNovel'],
]);

/** The words that say more: a size, a device, a medium, a way of binding. */
const NARROWER_WORDS: readonly (readonly [BookFormatName, readonly string[]])[] = [
  ['Hardcover', [
    'board book', 'bonded leather', 'gebunden', 'gebundene ausgabe', 'hardcover-spiral',
    'imitation leather', 'leather bound', 'leather-bound', 'library binding', 'relie',
    'reinforced hardcover', 'rilegato', 'school & library binding', 'slipcased hardcover',
    'tapa dura', 'turtleback',
  ]],
  ['Paperback', [
    'broche', 'broschiert', 'brossura', 'mass market', 'mass market paperback',
    'paperback / softback', 'perfect paperback', 'poche', 'pocket book', 'tapa blanda',
    'taschenbuch', 'trade paperback',
  ]],
  ['EBook', [
    'digital', 'electronic book', 'epub', 'kindle', 'kindle book', 'kindle edition', 'nook', 'pdf',
  ]],
  ['AudiobookFormat', [
    'audible', 'audible audio', 'audio', 'audio book', 'audio cassette', 'audio cd', 'audio play',
    'cassette', 'cd audiobook', 'cd-audio', 'mp3 book', 'mp3 cd', 'playaway',
    'preloaded digital audio player',
  ]],
  ['GraphicNovel', ['comic', 'comic book', 'comics', 'graphic novels', 'manga']],
];

const FORMATS_OF_NARROWER_WORDS: ReadonlyMap<string, BookFormatName> = new Map(
  NARROWER_WORDS.flatMap(([format, words]) => words.map((word) => [word, format] as const)));

/** The format that a word names, part where it says more; undefined for other words. */
export function readBookFormat(text: string): RowValue | undefined {
  const word = fold(text.trim());
  const format = SAME_WORDS.get(word);
  if (format !== undefined) return whole(format);
  const broaderFormat = FORMATS_OF_NARROWER_WORDS.get(word);
  return broaderFormat === undefined ? undefined : part(broaderFormat);
}
