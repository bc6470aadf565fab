/** Writes an entry of a BibTeX file: see `bibtex.ts` for the grammar. */
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { MONTHS } from '../mapping/date-text.ts';
import { encodeLatex, foldLatexBlanks, hasBalancedBraces } from './latex.ts';

type EntryToWrite = {
  readonly key: string;
  readonly type: string;
  /** Texts are LaTeX; several of one name are a list. */
  readonly fields: readonly (readonly [name: string, value: JsonValue])[];
  /** The field whose text is JSON. */
  readonly jsonField: string;
};

type WrittenEntry = {
  readonly text: string;
  /** Whether a type or a field has a name that no entry can have: nothing is left of it. */
  readonly leavesOut: boolean;
};

const TYPE = /^[a-z][a-z0-9_.-]*$/i;
const NO_ENTRY_TYPES: ReadonlySet<string> = new Set(['comment', 'preamble', 'string', 'xdata']);
/** Names that no reader takes for something else. */
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_.:+*/-]*$/;

export function encodeBibtexEntry({ key, type, fields, jsonField }: EntryToWrite): WrittenEntry {
  const isType = TYPE.test(type) && !NO_ENTRY_TYPES.has(type.toLowerCase());
  const writtenFields = fields.filter(([name]) => FIELD_NAME.test(name));
  const lines = writtenFields.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item: JsonValue) =>
      `  ${name} = ${encodeValue(name, item, name === jsonField)}`));
  return {
    text: `@${isType ? type : 'book'}{${[key, ...lines].join(',\n')}\n}\n`,
    leavesOut: !isType || writtenFields.length < fields.length,
  };
}

function encodeValue(name: string, value: JsonValue, isJson: boolean): string {
  if (typeof value !== 'string') return `{${encodeLatex(encodeJson(value))}}`;
  if (isJson) return `{${balanceBraces(value)}}`;
  if (name === 'month' && MONTHS.includes(value)) return value;
  // Only a caller can have written braces that no entry had.
  const latex = hasBalancedBraces(value) ? value : encodeLatex(value);
  // After a mistake an @ at a line's start begins an entry.
  return `{${/[\r\n][ \t]*@/.test(latex) ? foldLatexBlanks(latex) : latex}}`;
}

/** JSON whose braces are balanced also within its texts, and whose blanks nobody folds. */
function balanceBraces(json: string): string {
  let latex = '';
  let isText = false;
  for (let offset = 0; offset < json.length; offset += 1) {
    const char = json[offset] ?? '';
    if (char === '"') isText = !isText;
    if (isText && (char === '{' || char === '}' || char === '@' || isFolded(json, offset))) {
      latex += `\\u00${char.charCodeAt(0).toString(16)}`;
    } else {
      latex += char;
    }
    if (char !== '\\') continue;
    offset += 1;
    latex += json[offset] ?? '';
  }
  return latex;
}

/** Whether a blank stands beside another or at the edge of its text. */
function isFolded(json: string, offset: number): boolean {
  const next = json[offset + 1] ?? '';
  const previous = json[offset - 1] ?? '';
  return json[offset] === ' ' && [next, previous].some((char) => char === ' ' || char === '"');
}
