/** Finds the end of a JSON value in a text that need not be valid, as well as it can. */

const OPENING = '{[';
const CLOSING = '}]';
/** Ends a number, or any other bare word that stands for a value. */
const BARE_END = /[\s,}\]"]/g;
const SPACE = /[ \t\r\n]*/y;

/** The end of the value that begins at `start`: its string, container or bare word. */
export function findJsonValueEnd(text: string, start: number): number {
  const first = text.charAt(start);
  if (first === '"') return findStringEnd(text, start);
  if (OPENING.includes(first) && first !== '') return findContainerEnd(text, start);
  BARE_END.lastIndex = start;
  return BARE_END.exec(text)?.index ?? text.length;
}

/** Past the closing quote of the string that begins at `start`; without one the text's end. */
export function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charAt(end - 1 - escapes) === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Whether the string that ends before `end` is the name of a member: a colon follows it. */
export function isMemberName(text: string, end: number): boolean {
  SPACE.lastIndex = end;
  SPACE.exec(text);
  return text.charAt(SPACE.lastIndex) === ':';
}

function findContainerEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = findStringEnd(text, at) - 1;
    else if (OPENING.includes(character)) depth += 1;
    else if (CLOSING.includes(character)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
