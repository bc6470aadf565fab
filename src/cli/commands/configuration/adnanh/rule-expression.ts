/**
 * Regular expressions of Go that say no more than that a text is one of a list, or begins or ends
 * with one of a list, or has it within: `^refs/tags/.*`, `^refs/heads/(main|master)$`, `main|dev`.
 * Pure.
 */

export type ExactExpression = {
  /** `line`: the text begins with one of `texts`, and no line ends behind that. */
  readonly op: 'in' | 'prefix' | 'line' | 'suffix' | 'contains';
  /** Every text begins with the empty one. */
  readonly texts: readonly string[];
};

const LETTER = String.raw`(?:\\[!-/:-@[-\`{-~]|[^\\^$.|?*+()[\]{}])`;
const GROUP = String.raw`\((?:\?:)?${LETTER}*(?:\|${LETTER}*)*\)`;
const BRANCH = new RegExp(String.raw`^(\^|\.\*)?((?:${LETTER}|${GROUP})*)(\$|\.\*\$?)?$`);
const PART = new RegExp(`${GROUP}|${LETTER}+`, 'g');
const TEXTS_MAX = 50;

/** null: the expression says something else. */
export function parseExpression(expression: string): ExactExpression | null {
  const branches = (expression.match(/(?:\\[^]|\((?:\\[^]|[^)])*\)|[^|])+|^$/g) ?? [])
    .map(parseBranch);
  const [first] = branches;
  const texts = branches.flatMap((branch) => branch?.texts ?? []);
  const isExact = first != null && texts.length <= TEXTS_MAX
    && branches.every((branch) => branch?.op === first.op)
    && !(first.op === 'line' && texts.some((text) => text.includes('\n')))
    && !/^\||\|$|\|\|/.test(expression.replace(/\\[^]|\([^)]*\)/g, 'x'));
  return isExact ? { op: first.op, texts: [...new Set(texts)] } : null;
}

function parseBranch(branch: string): ExactExpression | null {
  const [, start, body, end = ''] = BRANCH.exec(branch) ?? [];
  if (body === undefined) return null;
  let texts: readonly string[] = [''];
  for (const part of body.match(PART) ?? []) {
    const choices = part.startsWith('(') ? part.replace(/^\((?:\?:)?|\)$/g, '')
      .match(/(?:\\[^]|[^|])+|(?<=^|\|)(?=\||$)/g) ?? [''] : [part];
    texts = texts.flatMap((text) => choices.map((choice) =>
      text + choice.replace(/\\([^])/g, '$1'))).slice(0, TEXTS_MAX + 1);
  }
  const op = OPS[start === '^' ? `^${end}` : end];
  return op === undefined ? null : { op, texts };
}

/** By what stands around the text. */
const OPS: Readonly<Record<string, ExactExpression['op']>> = {
  '^$': 'in', '^': 'prefix', '^.*': 'prefix', '^.*$': 'line', $: 'suffix', '': 'contains',
  '.*': 'contains',
};

/** Whether what is no text may be so: there a number or an array is compared as its text. */
export function isTrueOfOthers({ op, texts }: ExactExpression): boolean {
  if (op === 'in') return false;
  const isPart = PARTS_OF_OTHERS[op === 'line' ? 'prefix' : op];
  return texts.some((text) => text !== '' && isPart(text));
}

const WORDS = ['true', 'false', '<nil>'];
const PARTS_OF_OTHERS = {
  prefix: (text: string) => /^(?:-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?|[[{][^]*)$/.test(text)
    || WORDS.some((word) => word.startsWith(text)),
  suffix: (text: string) => /^[-+.\deE]*$|[\]}]$/.test(text)
    || WORDS.some((word) => word.endsWith(text)),
  contains: (text: string) => /^[-+.\deE]*$/.test(text)
    || WORDS.some((word) => word.includes(text)),
};
