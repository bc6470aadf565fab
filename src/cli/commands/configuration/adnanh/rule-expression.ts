/**
 * Regular expressions of Go that say no more than that a text is one of a list, or begins or ends
 * with one of a list, or has it within: `^refs/tags/.*`, `^refs/heads/(main|release/.*)$`,
 * `(?i)^main$`, `^v[0-9]`, `main|dev`. Pure.
 *
 * An expression is expanded into all its spellings, of which a text must fit one. In a spelling
 * each letter has a backslash before it, and the rest are marks: `^`, `$`, `.*`, `.+`, `*` for what
 * may be repeated, and `!` for what no comparison says.
 */

export type TextComparison = {
  /**
   * `line`: the text begins with one of `texts`, and no line ends behind that; `longer`: it begins
   * so, and its line goes on; `longer line`: both.
   */
  readonly op: 'in' | 'prefix' | 'line' | 'longer' | 'longer line' | 'suffix' | 'contains';
  /** Every text begins with the empty one. */
  readonly texts: readonly string[];
};

/** Each may be a comparison of a condition, which has at most 50. */
const SPELLINGS_MAX = 48;
/** Groups may stand within each other, and each takes room on the stack. */
const GROUPS_MAX = 100;
const OTHER = '!';

/** Comparisons of which one must hold; null: the expression says something else. */
export function parseExpression(expression: string): readonly TextComparison[] | null {
  if (expression.split('(').length > GROUPS_MAX) return null;
  const spellings = new Spellings(expression).list();
  const textsByOp = new Map<TextComparison['op'], Set<string>>();
  for (const spelling of spellings) {
    const [, start = '', letters = '', end = ''] = SPELLING.exec(spelling) ?? [OTHER, OTHER];
    const op = OPS[start + end];
    const text = letters.replace(/\\(.)/gsu, '$1');
    const isLine = op?.endsWith('line') === true;
    if (op === undefined || isLine && text.includes('\n')) return null;
    textsByOp.set(op, (textsByOp.get(op) ?? new Set()).add(text));
  }
  return spellings.length > SPELLINGS_MAX ? null
    : [...textsByOp].map(([op, texts]) => ({ op, texts: [...texts] }));
}

/** A beginning, letters and an end. Without `^` any text may come before: `.*` says nothing. */
const SPELLING = /^(?:(\^)|\.\*)?((?:\\.)*)([^\\]*)$/su;

/** By the marks around the letters. */
const OPS: Readonly<Record<string, TextComparison['op']>> = {
  '^$': 'in', '^': 'prefix', '^.*': 'prefix', '^*': 'prefix', '^.*$': 'line', '^.+': 'longer',
  '^.+$': 'longer line', $: 'suffix', '': 'contains', '.*': 'contains', '*': 'contains',
};

const LETTER = String.raw`\\[!-/:-@\x5b-\x60{-~]|[^\\^$.|?*+()[\]{}]`;
const CLASS_LETTER = String.raw`\\[!-/:-@\x5b-\x60{-~]|[^\\\]]`;
const LETTER_PATTERN = new RegExp(`^(?:${LETTER})`, 'u');
const CLASS_PATTERN = new RegExp(String.raw`^\[(?!\^)(?:${CLASS_LETTER})+\]`, 'u');
const RANGE_PATTERN = new RegExp(`(${CLASS_LETTER})(?:-(${CLASS_LETTER}))?`, 'gu');
const DIGITS = '[0-9]';

/** Expands an expression, from left to right. */
class Spellings {
  #rest: string;
  readonly #ignoresCase: boolean;

  constructor(expression: string) {
    this.#ignoresCase = expression.startsWith('(?i)');
    this.#rest = this.#ignoresCase ? expression.slice('(?i)'.length) : expression;
  }

  /** At most one more than SPELLINGS_MAX. */
  list(): readonly string[] {
    const spellings = this.#readChoices();
    return this.#rest === '' ? spellings : [OTHER];
  }

  #take(pattern: RegExp): string | null {
    const [token = null] = pattern.exec(this.#rest) ?? [];
    this.#rest = this.#rest.slice(token?.length ?? 0);
    return token;
  }

  #readChoices(): readonly string[] {
    const choices = [...this.#readSequence()];
    while (this.#take(/^\|/) !== null) choices.push(...this.#readSequence());
    return choices.slice(0, SPELLINGS_MAX + 1);
  }

  #readSequence(): readonly string[] {
    let spellings: readonly string[] = [''];
    while (!/^(?:$|[|)])/.test(this.#rest)) {
      const items = this.#readItem();
      spellings = spellings.flatMap((spelling) => items.map((item) => spelling + item))
        .slice(0, SPELLINGS_MAX + 1);
    }
    return spellings;
  }

  #readItem(): readonly string[] {
    if (this.#take(/^\.\*\??/) !== null) return ['.*'];
    if (this.#take(/^\.\+\??/) !== null) return ['.+'];
    const items = this.#readAtom();
    switch (this.#take(/^[?*+]\??/)?.[0]) {
      case undefined: return items;
      case '?': return ['', ...items];
      case '*': return ['*'];
      default: return items.map((item) => `${item}*`);
    }
  }

  #readAtom(): readonly string[] {
    const mark = this.#take(/^[\^$]/);
    if (mark !== null) return [mark];
    if (this.#take(/^\((?:\?:|(?!\?))/) !== null) {
      const choices = this.#readChoices();
      return this.#take(/^\)/) === null ? [OTHER] : choices;
    }
    const letter = this.#take(LETTER_PATTERN);
    if (letter !== null) return this.#spell([letter.replace(/^\\/, '')]);
    const digits = this.#take(/^\\d/) === null ? null : DIGITS;
    const letters = digits ?? this.#take(CLASS_PATTERN);
    if (letters !== null) return this.#spell(listLetters(letters));
    this.#take(/^./su);
    return [OTHER];
  }

  #spell(letters: readonly string[]): readonly string[] {
    const cases = this.#ignoresCase ? letters.flatMap(listCases) : letters;
    return [...new Set(cases)].map((letter) => letter === '' ? OTHER : `\\${letter}`);
  }
}

/** The letters of a class such as `[abc]` or `[0-9]`; '' for a range that is too long. */
function listLetters(letterClass: string): readonly string[] {
  const ranges = letterClass.slice(1, -1).matchAll(RANGE_PATTERN);
  return [...ranges].flatMap(([, from = '', to = from]) => {
    const [first = 0, last = 0] = [from, to].map((letter) =>
      letter.replace(/^\\/, '').codePointAt(0));
    const count = last - first + 1;
    return count < 1 || count > SPELLINGS_MAX ? ['']
      : Array.from({ length: count }, (_, index) => String.fromCodePoint(first + index));
  });
}

/** The letters that are the same but for their case, as Go has them; '' for what we do not know. */
function listCases(letter: string): readonly string[] {
  if (letter > '\x7f') return [''];
  const lower = letter.toLowerCase();
  return [lower, letter.toUpperCase(), ...lower === 'k' ? ['\u212a'] : [],
    ...lower === 's' ? ['\u017f'] : []];
}

/** Whether what is no text may be so: there a number or an array is compared as its text. */
export function isTrueOfOthers({ op, texts }: TextComparison): boolean {
  if (op === 'in') return false;
  const isPart = PARTS_OF_OTHERS[op === 'suffix' || op === 'contains' ? op : 'prefix'];
  return texts.some((text) => text !== '' && isPart(text));
}

const WORDS = ['true', 'false', '<nil>'];
const PARTS_OF_OTHERS = {
  prefix: (text: string) => /^(?:-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?|[[{](?![a-z])[^]*)$/i.test(text)
    || /^\[(?:t|f|n)/.test(text) || WORDS.some((word) => word.startsWith(text)),
  // Letters without quotes are a word of JSON: `[deploy]` is the end of no array.
  suffix: (text: string) => /^[-+.\deE]*$|(?:^[a-z]*|[^a-z]|true|false|null)[\]}]$/i.test(text)
    || WORDS.some((word) => word.endsWith(text)),
  contains: (text: string) => /^[-+.\deE]*$/.test(text)
    || WORDS.some((word) => word.includes(text)),
};
