/** The regular expressions of source text, and inputs that make a bad one slow. */

const LITERAL = new RegExp([
  // After what a value may follow; anywhere else a slash divides or stands in text.
  /(?<=[=(,:[!&|?>]\s*|return\s+)/,
  /\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)/,
].map(({ source }) => source).join(''), 'g');

/** Every regular expression that stands as a literal in a module's text. */
export function expressionsOf(text: string): RegExp[] {
  return [...text.matchAll(LITERAL)].map(([, source = '', flags]) => new RegExp(source, flags));
}

// One of each class that expressions tell apart, and a few that end what they began.
const COMMON = ['a', 'A', '0', 'x', ' ', '\n', '\t', '-', '.', '/', '"', '\\', 'é', '中'];
const ENDS = ['', '!', '\u0001', '\n', 'a'];

/** An input of so many characters. */
export type Attack = (length: number) => string;

/**
 * Inputs that differ in their ends: each beginning that the expression's own literal text suggests,
 * then a run of one or two characters, then ends that do not match.
 */
export function* attacksOn(expression: RegExp): Generator<readonly Attack[]> {
  const literal = expression.source.replace(/\\[a-zA-Z]|\[\^?|\{[\d,]+\}|[\\^$()\]?*+|]|\?:/g, '');
  const last = literal.at(-1) ?? '';
  const letters = [...new Set([...COMMON, ...literal])];
  const starts = Array.from({ length: Math.min(literal.length, 12) + 1 }, (_, index) =>
    literal.slice(0, index));
  const pumps = [...letters, ...letters.map((letter) => `${letter} `),
    ...letters.map((letter) => `${letter}${last}`)];
  const ends = [...ENDS, `${last}!`, '"!'];
  for (const start of new Set([...starts, ...letters, ...starts.map((start) => `a${start}`)])) {
    for (const pump of new Set(pumps)) {
      yield ends.map((end) => (length) => `${start}${pump.repeat(length / pump.length)}${end}`);
    }
  }
}
