/** What other programs find in a file of books, from the two formats that they all write. */
import { spawnSync } from 'node:child_process';
import { isJsonObject } from '../../src/base/fields.ts';
import type { JsonObject } from '../../src/base/schema.ts';

/** What every format of books can say. */
export type Edition = {
  /** With the subtitle after `: `. */
  readonly title: string;
  readonly authors: readonly string[];
  readonly year: number | null;
  readonly isbn: string | null;
  readonly publisher: string | null;
};

/** What the program makes of `input`; throws with what it says when it fails. */
export function runProgram(name: string, words: readonly string[], input: string): string {
  const { status, stdout, stderr, error } = spawnSync(name, words,
    { input, encoding: 'utf8', maxBuffer: 2 ** 28, timeout: 60_000 });
  if (status !== 0) throw new Error(`${name} ${words.join(' ')}: ${stderr}`, { cause: error });
  return stdout;
}

export function readCsl(items: unknown): readonly Edition[] {
  return (items as readonly JsonObject[]).map((item) => {
    const authors = Array.isArray(item['author']) ? item['author'] : [];
    const [[year] = []] = (item['issued'] as { 'date-parts'?: (number | string)[][] } | undefined)
      ?.['date-parts'] ?? [];
    return {
      title: String(item['title']),
      authors: authors.filter(isJsonObject).map(nameOf),
      year: year === undefined ? null : Number(year),
      isbn: textOrNull(item['ISBN'])?.replaceAll('-', '') ?? null,
      publisher: textOrNull(item['publisher']),
    };
  });
}

function nameOf(author: JsonObject): string {
  return ['given', 'dropping-particle', 'non-dropping-particle', 'family', 'literal', 'suffix']
    .map((part) => textOrNull(author[part])).filter((text) => text !== null).join(' ');
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The books of MODS, as bibutils write it: an element a line or more, none nested in its like. */
export function readMods(xml: string): readonly Edition[] {
  return elementsOf(xml, 'mods').map((mods) => {
    const [titleInfo = ''] = elementsOf(mods, 'titleInfo');
    const [subtitle] = elementsOf(titleInfo, 'subTitle');
    const [title = ''] = elementsOf(titleInfo, 'title');
    const [date] = elementsOf(mods, 'dateIssued');
    return {
      title: subtitle === undefined ? title : `${title}: ${subtitle}`,
      authors: elementsOf(mods, 'name').map(modsNameOf),
      year: date === undefined ? null : Number(date.slice(0, 4)),
      isbn: elementsOf(mods, 'identifier type="isbn"')[0]?.replaceAll('-', '') ?? null,
      publisher: elementsOf(mods, 'publisher')[0] ?? null,
    };
  });
}

function modsNameOf(name: string): string {
  const parts = ['given', 'family', 'suffix'].flatMap((type) =>
    elementsOf(name, `namePart type="${type}"`));
  return [...parts, ...elementsOf(name, 'namePart')].join(' ');
}

/** The contents of the elements that begin so: their name, perhaps with attributes. */
function elementsOf(xml: string, start: string): readonly string[] {
  const [name = ''] = start.split(' ');
  const pattern = start === name && name !== 'namePart' ? `<${name}(?: [^>]*)?>` : `<${start}>`;
  return [...xml.matchAll(new RegExp(`${pattern}([^]*?)</${name}>`, 'g'))]
    .map(([, content = '']) => unescapeXml(content));
}

function unescapeXml(text: string): string {
  if (text.includes('<')) return text;
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'").replaceAll('&amp;', '&');
}
