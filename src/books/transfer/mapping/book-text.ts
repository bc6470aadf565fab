/**
 * Texts of bibliographic formats that say a book's title with its subtitle (`Animal Farm: A Fairy
 * Story`), and how many pages it has.
 */
const SEPARATOR = ': ';

/** Title and subtitle, or the title alone; nothing where the text is blank. */
export function splitTitle(text: string): readonly string[] {
  const end = text.indexOf(SEPARATOR);
  const title = end < 0 ? '' : text.slice(0, end).trim();
  const subtitle = end < 0 ? '' : text.slice(end + SEPARATOR.length).trim();
  if (title !== '' && subtitle !== '') return [title, subtitle];
  return text.trim() === '' ? [] : [text];
}

/** The text of both; of the title alone where reading would take blanks off one of them. */
export function joinTitle(title: string, subtitle = ''): string {
  const isJoined = subtitle !== '' && title === title.trim() && subtitle === subtitle.trim();
  return isJoined ? title + SEPARATOR + subtitle : title;
}

const PAGE_COUNT = /^([0-9]{1,6})(?: ?(?:pp?|pg|pages)\.?)?$/i;

/** The number of a book's pages as a text says it, such as `304` or `304 p.`; or null. */
export function parsePageCount(text: string): number | null {
  const [, digits] = PAGE_COUNT.exec(text.trim()) ?? [];
  return digits === undefined ? null : Number(digits);
}
