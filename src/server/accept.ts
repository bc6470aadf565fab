/** The media types that a caller takes (RFC 9110 §12.5.1, `Accept`). */

type MediaRange = {
  /** A media type in lower case; `*` may stand for its second part, or for both. */
  readonly name: string;
  /** From 0, for not at all, to 1. */
  readonly weight: number;
};

const ANY = '*';
/** The range that every media type is in. */
export const ANY_TYPE = `${ANY}/${ANY}`;

// Java's own client sends `*; q=.2`.
const WEIGHT = /^q=(0?\.\d+|0\.?|1(?:\.0*)?)$/;

/**
 * The ranges of the header in their order; a header that names nothing takes every type.
 * Parameters other than the weight do not count.
 */
export function parseAccept(accept: string): readonly MediaRange[] {
  const ranges = splitUnquoted(accept, ',').flatMap((item) => {
    const [name = '', ...parameters] =
      splitUnquoted(item, ';').map((part) => part.trim().toLowerCase());
    if (name === '') return [];
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    // An invalid weight counts as 0: the caller gets nothing that he may not want.
    return [{
      name: name === ANY ? ANY_TYPE : name,
      weight: weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0),
    }];
  });
  return ranges.length === 0 ? [{ name: ANY_TYPE, weight: 1 }] : ranges;
}

/**
 * The parts between the separators that stand in no quotes: a parameter in quotes, such as a
 * profile of JSON-LD, may hold commas and semicolons. Quotes that are not closed reach to the end.
 */
function splitUnquoted(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') index += 1;
    else if (!isQuoted && character === separator) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/**
 * Chooses the offer that the caller wants most; null: he refuses all. `offers` are in our order of
 * preference. Among types of the same weight a type that is named literally goes first, then the
 * type that is named first.
 */
export function chooseMediaType(accept: string, offers: readonly string[]): string | null {
  const ranges = parseAccept(accept);
  let best: { readonly offer: string; readonly rank: readonly number[] } | null = null;
  for (const offer of offers) {
    const [precision, index] = findRange(ranges, offer);
    const weight = ranges[index]?.weight ?? 0;
    const rank = [weight, precision, -index];
    if (weight > 0 && (best === null || isHigher(rank, best.rank))) best = { offer, rank };
  }
  return best?.offer ?? null;
}

/** The most precise range for the type: how precise it is, and where it stands; -1: none. */
function findRange(
  ranges: readonly MediaRange[], mediaType: string,
): readonly [precision: number, index: number] {
  const names = [ANY_TYPE, `${mediaType.split('/', 1)[0] ?? ''}/${ANY}`, mediaType];
  for (let precision = names.length - 1; precision >= 0; precision -= 1) {
    const index = ranges.findIndex(({ name }) => name === names[precision]);
    if (index >= 0) return [precision, index];
  }
  return [-1, -1];
}

function isHigher(left: readonly number[], right: readonly number[]): boolean {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? 0;
    if (value !== other) return value > other;
  }
  return false;
}
