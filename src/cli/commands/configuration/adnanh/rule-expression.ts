/**
 * Regular expressions of Go that say no more than that a text is one of a list, or begins with one
 * of a list: `^refs/tags/.*`, `^refs/heads/(main|master)$`, `^a$|^b$`. Pure.
 */

export type ExactExpression = {
  readonly op: 'in' | 'prefix'; readonly texts: readonly string[];
};

const LETTER = String.raw`(?:\\[!-/:-@[-\`{-~]|[^\\^$.|?*+()[\]{}])`;
const GROUP = String.raw`\((?:\?:)?${LETTER}*(?:\|${LETTER}*)*\)`;
const BRANCH = new RegExp(String.raw`^\^((?:${LETTER}|${GROUP})*)(\$|\.\*)?$`);
const PART = new RegExp(`${GROUP}|${LETTER}+`, 'g');
const TEXTS_MAX = 50;

/** null: the expression says something else. */
export function parseExpression(expression: string): ExactExpression | null {
  const branches = (expression.match(/(?:\\[^]|\((?:\\[^]|[^)])*\)|[^|])+/g) ?? [])
    .map(parseBranch);
  const [first] = branches;
  const texts = branches.flatMap((branch) => branch?.texts ?? []);
  const isExact = first != null && texts.length <= TEXTS_MAX
    && branches.every((branch) => branch?.op === first.op)
    // Every text begins with the empty one.
    && (first.op === 'in' || !texts.includes(''))
    && !/^\||\|$|\|\|/.test(expression.replace(/\\[^]|\([^)]*\)/g, 'x'));
  return isExact ? { op: first.op, texts: [...new Set(texts)] } : null;
}

function parseBranch(branch: string): ExactExpression | null {
  const [, body, end] = BRANCH.exec(branch) ?? [];
  if (body === undefined) return null;
  let texts: readonly string[] = [''];
  for (const part of body.match(PART) ?? []) {
    const choices = part.startsWith('(') ? part.replace(/^\((?:\?:)?|\)$/g, '')
      .match(/(?:\\[^]|[^|])+|(?<=^|\|)(?=\||$)/g) ?? [''] : [part];
    texts = texts.flatMap((text) => choices.map((choice) =>
      text + choice.replace(/\\([^])/g, '$1'))).slice(0, TEXTS_MAX + 1);
  }
  return { op: end === '$' ? 'in' : 'prefix', texts };
}

/** Whether what is no text may begin so: there a number or an array is compared as its text. */
export function isBeginningOfOther(text: string): boolean {
  return /^(?:-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?|[[{][^]*)$/.test(text)
    || ['true', 'false', '<nil>'].some((word) => word.startsWith(text));
}
