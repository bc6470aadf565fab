// Makes scripts smaller: no needless space, and short names for what only they know. It reads tokens,
// not a syntax tree: whether a name is a variable or a member of an object follows from what stands
// around it. A name that one of the scripts uses and does not declare may be a global, and stays.

const TOKENS = /\s+|[\w$#]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.\.|\?\.(?!\d)|=>|[^]/gy;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const DECLARING = ['const', 'let', 'function', 'class'];
const NAME = /^[A-Za-z_$][\w$]*$/;
const KEYWORDS = new Set(('async await break case catch class const continue default delete do else '
  + 'extends false finally for function get if in instanceof let new null of return set static '
  + 'super switch this throw true try typeof undefined void while yield arguments').split(' '));

/**
 * The scripts as given: each `{ text, known }`, where `known` are the names that others give it.
 * Compiled by TypeScript, which ends each statement, so that no line end is needed.
 */
export function minify(scripts) {
  const all = scripts.map(({ text, known }) => {
    const tokens = tokensOf(text);
    return { tokens, roles: rolesOf(tokens), known };
  });
  const kept = new Set(all.flatMap(undeclaredIn));
  const shared = shortNames([...new Set(all.flatMap((script) => script.known))], kept, '$');
  return {
    texts: all.map(({ tokens, roles }) => {
      const own = ownNames(tokens, roles).filter((name) => !shared.has(name));
      const names = new Map([...shared, ...shortNames(own, kept, '')]);
      return joined(tokens.map((token, index) => {
        const short = names.get(token);
        if (short === undefined || roles[index] === 'member') return token;
        return roles[index] === 'shorthand' ? `${token}:${short}` : short;
      }));
    }),
    nameOf: (name) => shared.get(name) ?? name,
  };
}

function tokensOf(text) {
  const tokens = [];
  // How many braces are open within each placeholder of a template that is open.
  const open = [];
  let index = 0;
  while (index < text.length) {
    const [previous = ';'] = tokens.slice(-1);
    const isValue = /[\w$)\]}'"`]$/.test(previous) && !/^(?:return|typeof|case|of|in)$/.test(previous);
    const pattern = text[index] === '/' && !isValue ? REGEX : TOKENS;
    pattern.lastIndex = index;
    let token = pattern.exec(text)[0];
    if (token === '`' || (token === '}' && open.at(-1) === 0)) {
      if (token === '}') open.pop();
      token = templatePart(text, index);
      if (token.endsWith('${')) open.push(0);
    } else if (open.length > 0 && '{}'.includes(token)) {
      open[open.length - 1] += token === '{' ? 1 : -1;
    }
    index += token.length;
    if (token.trim() !== '') tokens.push(token);
  }
  return tokens;
}

/** From a backtick, or the end of a placeholder, up to the next placeholder or the end. */
function templatePart(text, start) {
  let index = start + 1;
  while (text[index] !== '`' && !text.startsWith('${', index)) index += text[index] === '\\' ? 2 : 1;
  return text.slice(start, index + (text[index] === '`' ? 1 : 2));
}

/** What each token is: `variable`, `member`, `shorthand` (both at once), or null for the others. */
function rolesOf(tokens) {
  const open = [];
  return tokens.map((token, index) => {
    const within = open.at(-1);
    if (isClosing(token)) open.pop();
    if (isOpening(token)) open.push(kindOf(tokens, index));
    if (token.startsWith('#')) return 'variable';
    if (!NAME.test(token)) return null;
    const [before = '', after = ''] = [tokens[index - 1], tokens[index + 1]];
    if (before === '.' || before === '?.') return 'member';
    // A star between two values multiplies.
    const second = tokens[index - 2] ?? '';
    const isModified = /^(?:async|get|set|static|\*)$/.test(before)
      && /^(?:[{},;]|async|static)$/.test(second);
    if (within === 'class' && (isModified || /^[{};]$/.test(before))) return 'member';
    const isFirst = /^[{,]$/.test(before) && within === 'object';
    if (isFirst && /^[:(]$/.test(after)) return 'member';
    if (within === 'object' && isModified) return 'member';
    if (KEYWORDS.has(token)) return null;
    return isFirst && /^[,}=]$/.test(after) ? 'shorthand' : 'variable';
  });
}

function isOpening(token) {
  return /^[{([]$/.test(token) || (/^[`}]/.test(token) && token.endsWith('${'));
}

function isClosing(token) {
  return /^[)\]]$/.test(token) || token.startsWith('}');
}

function kindOf(tokens, index) {
  const [before = ';', second] = [tokens[index - 1], tokens[index - 2]];
  if (tokens[index] !== '{') return tokens[index];
  if (second === 'class' || second === 'extends') return 'class';
  return /^(?:[);{}]|=>|else|try|finally|do)$/.test(before) ? 'block' : 'object';
}

/** The names of a script, those that stand most often first. */
function ownNames(tokens, roles) {
  const counts = new Map();
  for (const [index, token] of tokens.entries()) {
    if (isUse(roles[index])) counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  return [...counts].sort(([, many], [, few]) => few - many).map(([name]) => name);
}

function isUse(role) {
  return role === 'variable' || role === 'shorthand';
}

/** What may be a global. */
function undeclaredIn({ tokens, roles, known }) {
  const declared = new Set([...known, ...declaredIn(tokens)]);
  return tokens.filter((token, index) =>
    isUse(roles[index]) && !token.startsWith('#') && !declared.has(token));
}

function shortNames(names, kept, prefix) {
  const short = new Map();
  let count = 0;
  for (const name of names) {
    if (kept.has(name)) continue;
    let next = '';
    do {
      next = prefix + letters(count);
      count += 1;
    } while (kept.has(next) || KEYWORDS.has(next));
    short.set(name, name.startsWith('#') ? `#${next}` : next);
  }
  return short;
}

/** `a` to `z`, `A` to `Z`, `aa` and so on. */
function letters(count) {
  const letter = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'[count % 52];
  return count < 52 ? letter : letters(Math.floor(count / 52) - 1) + letter;
}

/** Every name that is declared anywhere, by a statement, in a pattern or as a parameter. */
function declaredIn(tokens) {
  return tokens.flatMap((token, index) => {
    const after = tokens[index + 1] ?? '';
    if (DECLARING.includes(token)) {
      return /^[{[]$/.test(after) ? namesFrom(tokens, index + 1) : [after];
    }
    if (token === '(' && isParameters(tokens, index)) return namesFrom(tokens, index);
    return after === '=>' && NAME.test(token) ? [token] : [];
  });
}

function isParameters(tokens, index) {
  const [before, second] = [tokens[index - 1], tokens[index - 2]];
  if (before === 'catch' || before === 'function' || second === 'function') return true;
  const after = tokens[endOf(tokens, index) + 1];
  return after === '=>' || (after === '{' && NAME.test(before)
    && !['if', 'for', 'while', 'switch'].includes(before));
}

function namesFrom(tokens, start) {
  return tokens.slice(start, endOf(tokens, start)).filter((token) => NAME.test(token));
}

/** Where the bracket that opens at `start` is closed. */
function endOf(tokens, start) {
  let depth = 0;
  for (let index = start; index < tokens.length; index += 1) {
    if (isClosing(tokens[index])) depth -= 1;
    if (isOpening(tokens[index])) depth += 1;
    if (depth === 0) return index;
  }
  return tokens.length;
}

function joined(tokens) {
  return tokens.filter((token, index) => !isNeedless(token, tokens[index + 1]))
    .reduce((text, token) => {
      const touching = `${text.at(-1) ?? ''}${token[0]}`;
      return /^(?:[\w$#]{2}|\+\+|--)$/.test(touching) ? `${text} ${token}` : text + token;
    }, '');
}

/** What ends the last of several. */
function isNeedless(token, after = '') {
  return (token === ',' && /^[}\])]/.test(after)) || (token === ';' && after.startsWith('}'));
}
