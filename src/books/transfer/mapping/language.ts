/**
 * The language of a book as other programs name it, as a BCP 47 tag: a tag (`pt-BR`, `pt_BR`), a
 * code of ISO 639-2 (`eng`, `ger`), or an English, German, French, Spanish, own or babel name
 * (`German`, `Deutsch`, `allemand`, `ngerman`), whatever its case and accents. Names and codes are
 * Unicode's (CLDR, in `Intl`); only what it lacks stands here.
 */
import { fold } from '../../../base/text/fold.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

// A language by its code, perhaps a script, a region and so on. The model would take a word of
// eight letters for a language too; here it is a name.
const TAG = /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/;
const UNDETERMINED = 'und';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
// Texts of several languages, as `eng; fre` or `English, French and Latin`.
const SEPARATOR = /[,;/&|+]|\s(?:and|und|et|y)\s/;
const TEXT_LENGTH_MAX = 200;

/** The languages without a code of two letters in which books are read. */
const LONG_CODES = [
  'akk', 'ang', 'arc', 'ast', 'ban', 'chr', 'cop', 'csb', 'dsb', 'dum', 'egy', 'enm', 'fil', 'frm',
  'fro', 'fur', 'gmh', 'goh', 'got', 'grc', 'gsw', 'hak', 'haw', 'hsb', 'kab', 'lad', 'ltg', 'lzh',
  'mai', 'mul', 'nan', 'nap', 'nds', 'non', 'ota', 'pap', 'peo', 'pro', 'scn', 'sco', 'sga', 'sux',
  'syc', 'syr', 'tlh', 'vec', 'yue', 'zxx',
];

/** Names that CLDR does not have: of libraries, and of LaTeX's babel package. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['acadian', 'fr-CA'], ['american', 'en-US'], ['american english', 'en-US'],
  ['ancient greek', 'grc'], ['australian', 'en-AU'], ['austrian', 'de-AT'],
  ['bahasa indonesia', 'id'], ['bengali', 'bn'], ['bokmal', 'nb'], ['brazil', 'pt-BR'],
  ['brazilian', 'pt-BR'], ['brazilian portuguese', 'pt-BR'], ['british', 'en-GB'],
  ['british english', 'en-GB'], ['burmese', 'my'], ['canadian', 'en-CA'], ['canadien', 'fr-CA'],
  ['castellano', 'es'], ['castilian', 'es'],
  ['chinese (simplified)', 'zh-Hans'],
  ['chinese (traditional)', 'zh-Hant'], ['english (uk)', 'en-GB'], ['english (us)', 'en-US'],
  ['farsi', 'fa'], ['flamand', 'nl-BE'], ['flamisch', 'nl-BE'], ['flemish', 'nl-BE'],
  ['frenchb', 'fr'], ['gaelic', 'gd'],
  ['german (austria)', 'de-AT'], ['german (switzerland)', 'de-CH'], ['germanb', 'de'],
  ['greek, ancient', 'grc'], ['greek, modern', 'el'], ['magyar', 'hu'], ['mandarin', 'zh'],
  ['mexican', 'es-MX'], ['modern greek', 'el'], ['naustrian', 'de-AT'], ['newzealand', 'en-NZ'],
  ['ngerman', 'de'], ['nswissgerman', 'de-CH'], ['oriya', 'or'], ['polutonikogreek', 'el'],
  ['portuges', 'pt'], ['portuguese (brazil)', 'pt-BR'], ['serbian (cyrillic)', 'sr-Cyrl'],
  ['simplified chinese', 'zh-Hans'], ['swissgerman', 'de-CH'], ['tagalog', 'tl'],
  ['traditional chinese', 'zh-Hant'], ['ukenglish', 'en-GB'], ['ukraineb', 'uk'],
  ['usenglish', 'en-US'], ['uyghur', 'ug'], ['vietnam', 'vi'],
]);

/** The language that a text names, or the first of several; undefined where it names none. */
export function readLanguage(text: string): RowValue | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const tag = findLanguage(text);
  if (tag !== null) return whole(tag);
  const [first = ''] = text.split(SEPARATOR);
  const firstTag = findLanguage(first);
  return firstTag === null ? undefined : part(firstTag);
}

// A language with its period in brackets: `Greek (Ancient)`.
const TIME_IN_BRACKETS = /^([^()]+) \(([^()]+)\)$/;

/** The BCP 47 tag of one language, or null. */
function findLanguage(text: string): string | null {
  const name = fold(text.trim());
  const tag = name.replaceAll('_', '-');
  if (TAG.test(tag)) return canonicalize(tag);
  return findName(name) ?? findName(name.replace(TIME_IN_BRACKETS, '$2 $1'));
}

function findName(name: string): string | null {
  return OTHER_NAMES.get(name) ?? getNames().get(name) ?? null;
}

function canonicalize(tag: string): string | null {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    return canonical === undefined || canonical === UNDETERMINED ? null : canonical;
  } catch {
    return null;
  }
}

let names: ReadonlyMap<string, string> | null = null;

/** The tags of languages by their names, folded. */
function getNames(): ReadonlyMap<string, string> {
  return names ??= createNames();
}

// The languages in which names are read, besides each by its own; a name of the first counts most.
const NAME_LANGUAGES = ['en', 'de', 'fr', 'es'];

// Takes 30 ms, once, and only where a file names languages.
function createNames(): ReadonlyMap<string, string> {
  const displayNames = NAME_LANGUAGES.map((language) =>
    new Intl.DisplayNames(language, { type: 'language', fallback: 'none' }));
  const shortCodes = [...LETTERS].flatMap((first) => [...LETTERS].map((second) => first + second));
  const tags = new Map<string, string>();
  for (const code of [...shortCodes, ...LONG_CODES]) {
    const [englishName, ...names] = displayNames.map((names) => names.of(code));
    // Withdrawn codes, such as `iw` for Hebrew, have names too.
    const tag = englishName === undefined ? null : canonicalize(code);
    if (englishName === undefined || tag === null) continue;
    tags.set(fold(englishName), tag);
    const ownName = new Intl.DisplayNames(code, { type: 'language' }).of(code);
    for (const name of [ownName, ...names]) {
      if (name !== undefined && !tags.has(fold(name))) tags.set(fold(name), tag);
    }
  }
  return tags;
}
