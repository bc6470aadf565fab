/**
 * The members that an item of CSL's input data may have (citationstyles.org, csl-data.json, version
 * 1.0.2), besides `id`, `type` and `custom`. An item with any other member is not valid.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonValue } from '../../../base/schema.ts';

type CslKind = 'text' | 'textOrNumber' | 'names' | 'date' | 'texts';

const MEMBERS: Readonly<Record<CslKind, string>> = {
  text: `abstract annote archive archive_collection archive_location archive-place authority
    call-number citation-key citation-label collection-title container-title container-title-short
    dimensions division DOI event event-place event-title genre ISBN ISSN journalAbbreviation
    jurisdiction keyword language medium note original-publisher original-publisher-place
    original-title part-title PMCID PMID publisher publisher-place references reviewed-genre
    reviewed-title scale section shortTitle source status title title-short URL
    version volume-title volume-title-short year-suffix`,
  textOrNumber: `chapter-number citation-number collection-number edition
    first-reference-note-number issue locator number number-of-pages number-of-volumes page
    page-first part printing supplement volume`,
  names: `author chair collection-editor compiler composer container-author contributor curator
    director editor editorial-director executive-producer guest host illustrator interviewer
    narrator organizer original-author performer producer recipient reviewed-author script-writer
    series-creator translator`,
  date: 'accessed available-date container event-date issued original-date submitted',
  texts: 'categories',
};

const KINDS: ReadonlyMap<string, CslKind> = new Map(
  (Object.entries(MEMBERS) as [CslKind, string][]).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name) => [name, kind] as const)));

const TYPES: ReadonlySet<string> = new Set(`article article-journal article-magazine
  article-newspaper bill book broadcast chapter classic collection dataset document entry
  entry-dictionary entry-encyclopedia figure graphic hearing interview legal_case legislation
  manuscript map motion_picture musical_score pamphlet paper-conference patent performance
  periodical personal_communication post post-weblog regulation report review review-book software
  song speech standard thesis treaty webpage`.split(/\s+/));

const NAME_TEXTS = ['family', 'given', 'dropping-particle', 'non-dropping-particle', 'suffix',
  'literal'];
const NAME_FLAGS = ['comma-suffix', 'static-ordering', 'parse-names'];
/** Its characters are those that EDTF has, and any text with one of them is valid. */
const EDTF = /[0-9,\-%~X?./]/;

export function isCslType(type: string): boolean {
  return TYPES.has(type);
}

/** Whether an item may have the member, with this value. */
export function isCslMember(name: string, value: JsonValue): boolean {
  switch (KINDS.get(name)) {
    case 'text': return typeof value === 'string';
    case 'textOrNumber': return isTextOrNumber(value);
    case 'names': return Array.isArray(value) && value.every(isCslName);
    case 'date': return isCslDate(value);
    case 'texts': return Array.isArray(value) && value.every((item) => typeof item === 'string');
    default: return false;
  }
}

function isTextOrNumber(value: JsonValue | undefined): boolean {
  return typeof value === 'string' || isJsonNumber(value);
}

function isCslName(value: JsonValue): boolean {
  return isJsonObject(value) && Object.entries(value).every(([name, part]) =>
    NAME_TEXTS.includes(name) ? typeof part === 'string'
      : NAME_FLAGS.includes(name) && (isTextOrNumber(part) || typeof part === 'boolean'));
}

function isCslDate(value: JsonValue): boolean {
  if (typeof value === 'string') return EDTF.test(value);
  return isJsonObject(value) && Object.entries(value).every(([name, part]) => {
    switch (name) {
      case 'date-parts': return isList(part, 2, (date) => isList(date, 3, isTextOrNumber));
      case 'season': return isTextOrNumber(part);
      case 'circa': return isTextOrNumber(part) || typeof part === 'boolean';
      case 'literal':
      case 'raw': return typeof part === 'string';
      case 'edtf': return typeof part === 'string' && EDTF.test(part);
      default: return false;
    }
  });
}

/** A list of one to `lengthMax` valid items. */
function isList(
  value: JsonValue, lengthMax: number, isValid: (item: JsonValue) => boolean,
): boolean {
  return Array.isArray(value) && value.length > 0 && value.length <= lengthMax
    && value.every(isValid);
}
