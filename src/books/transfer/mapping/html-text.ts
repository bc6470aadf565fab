/**
 * Text of a piece of HTML, as descriptions of books have it: paragraphs and line breaks become line
 * feeds, items of lists lines with a hyphen, references their characters. It is no HTML parser: it
 * needs no document, never fails, and takes time in proportion to the text.
 */
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

/** The texts that stand for a tag, at its start and at its end. */
const LINES: ReadonlyMap<string, string> = new Map([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'dl', 'table', 'hr', 'pre']
    .map((name) => [name, '\n\n'] as const),
  ...['br', 'div', 'li', 'dt', 'dd', 'tr', 'section', 'article', 'figure', 'figcaption']
    .map((name) => [name, '\n'] as const),
]);
/** The tags that say no more than where a line ends, and comments. */
const PLAIN_TAGS: ReadonlySet<string> = new Set(['', 'p', 'div', 'br', 'span']);
const HIDDEN_TAGS: ReadonlySet<string> = new Set(['script', 'style']);
/** More than the longest review has, and read in 5 ms. */
const TAGS_MAX = 10_000;

/**
 * The text as it reads, part where links, emphasis and other marks are lost; null where it has tags
 * alone, as editors leave them behind, or too many to be read. A text without tags and references
 * is taken as it is, and where no tag ends a line its own line ends do.
 */
export function readHtml(html: string): RowValue {
  if (!html.includes('<')) return whole(decodeReferences(html));
  if (html.split('<', TAGS_MAX + 1).length > TAGS_MAX) return part(null);
  const tokens = [...splitTags(html)];
  // Their names; that of a comment is empty.
  const tags = new Set(tokens.flatMap(({ isTag, text }) => isTag ? [text] : []));
  if (tags.size === 0) return whole(decodeReferences(html));
  const hasLineTags = [...tags].some((name) => LINES.has(name));
  const blanks = hasLineTags ? /\s+/g : /[^\S\n]+/g;
  const pieces = tokens.map((token) => {
    if (!token.isTag) return token.text.replace(blanks, ' ');
    const lineEnd = LINES.get(token.text) ?? '';
    return token.text === 'li' && !token.isEnd ? `${lineEnd}- ` : lineEnd;
  });
  const text = decodeReferences(pieces.join('')).split('\n').map((line) => line.trim()).join('\n')
    .replace(/\n{3,}/g, '\n\n').trim();
  const isWhole = [...tags].every((name) => PLAIN_TAGS.has(name));
  return { value: text === '' ? null : text, isWhole };
}

// The marks that Zotero has within a text; all else in angle brackets is the text's own.
const RICH_TAG = /<\/?(?:i|b|sub|sup|sc|span)>|<span (?:class|style)="[^"<>]{0,80}">/g;

/** The text of Zotero's rich text, part where its marks are lost. */
export function readRichText(text: string): RowValue {
  const plain = decodeReferences(text.replace(RICH_TAG, ''));
  return plain === text ? whole(text) : part(plain);
}

type HtmlToken =
  | { readonly isTag: false; readonly text: string }
  /** `text` is the name in lower case, empty for a comment. */
  | { readonly isTag: true; readonly text: string; readonly isEnd: boolean };

// An open bracket behind which no name stands is text, as in `1 < 2`.
const TAG_START = /<(!--|[!?]|\/?[a-z][a-z0-9]*)/i;

function* splitTags(html: string): Generator<HtmlToken, void, undefined> {
  let textStart = 0;
  // The next end of a tag, and of a comment: each is looked for once, however many starts there are
  // before it.
  let tagEnd = -1;
  let commentEnd = -1;
  const starts = new RegExp(TAG_START, 'gi');
  for (let match = starts.exec(html); match !== null; match = starts.exec(html)) {
    const [, name = ''] = match;
    const start = match.index;
    const isComment = name === '!--';
    if (isComment && commentEnd < start + 4) commentEnd = findFrom(html, '-->', start + 4);
    if (!isComment && tagEnd < start) tagEnd = findFrom(html, '>', start);
    const end = isComment ? commentEnd + 3 : tagEnd + 1;
    if (end > html.length) continue;
    if (start > textStart) yield { isTag: false, text: html.slice(textStart, start) };
    const isEnd = name.startsWith('/');
    const tag = /^[!?]/.test(name) ? '' : name.slice(isEnd ? 1 : 0).toLowerCase();
    yield { isTag: true, text: tag, isEnd };
    textStart = HIDDEN_TAGS.has(tag) && !isEnd ? findHiddenEnd(html, tag, end) : end;
    starts.lastIndex = textStart;
  }
  if (textStart < html.length) yield { isTag: false, text: html.slice(textStart) };
}

/** Beyond the text where it is not found. */
function findFrom(text: string, needle: string, start: number): number {
  const index = text.indexOf(needle, start);
  return index < 0 ? text.length : index;
}

function findHiddenEnd(html: string, tag: string, start: number): number {
  const ends = new RegExp(`</${tag}`, 'gi');
  ends.lastIndex = start;
  return ends.exec(html)?.index ?? html.length;
}

const REFERENCE = /&(?:#([0-9]{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,7}));/gi;
/** The marks of letters, by the ends of their names: `&eacute;`. */
const MARKS: ReadonlyMap<string, string> = new Map([
  ['acute', '\u0301'], ['grave', '\u0300'], ['circ', '\u0302'], ['uml', '\u0308'],
  ['tilde', '\u0303'], ['ring', '\u030a'], ['cedil', '\u0327'], ['caron', '\u030c'],
]);
const MARKED_LETTER = /^([a-z])(acute|grave|circ|uml|tilde|ring|cedil|caron)$/i;
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ensp: ' ', emsp: ' ', thinsp: ' ',
  shy: '', ndash: '–', mdash: '—', hellip: '…', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“',
  rdquo: '”', bdquo: '„', laquo: '«', raquo: '»', lsaquo: '‹', rsaquo: '›', bull: '•',
  middot: '·', prime: '′', Prime: '″', dagger: '†', Dagger: '‡', copy: '©', reg: '®', trade: '™',
  deg: '°', sect: '§', para: '¶', euro: '€', pound: '£', yen: '¥', cent: '¢', times: '×',
  divide: '÷', plusmn: '±', frac12: '½', frac14: '¼', frac34: '¾', iexcl: '¡', iquest: '¿',
  ordf: 'ª', ordm: 'º', szlig: 'ß', aelig: 'æ', AElig: 'Æ', oelig: 'œ', OElig: 'Œ', oslash: 'ø',
  Oslash: 'Ø', eth: 'ð', ETH: 'Ð', thorn: 'þ', THORN: 'Þ', zwj: '\u200d', zwnj: '\u200c',
};

/** Unknown references stay as they are. */
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (reference, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return CHARACTERS[name] ?? decodeMarkedLetter(name) ?? reference;
    const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : reference;
  });
}

function decodeMarkedLetter(name: string): string | undefined {
  const [, letter = '', mark = ''] = MARKED_LETTER.exec(name) ?? [];
  return letter === '' ? undefined : (letter + (MARKS.get(mark) ?? '')).normalize('NFC');
}
