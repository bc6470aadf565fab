/** Finds the end of a JSON value in a text that need not be valid, as well as it can. */

const OPENING = '{[';
const CLOSING = '}]';
/** Ends a number, or any other bare word that stands for a value. */
const BARE_END = /[\s,}\]"]/g;

/** The end of the value that begins at `start`: its string, container or bare word. */
export function findJsonValueEnd(text: string, start: number): number {
  const first = text.charAt(start);
  if (first === '"') return findStringEnd(text, start);
  if (OPENING.includes(first) && first !== '') return findContainerEnd(text, start);
  BARE_END.lastIndex = start;
  return BARE_END.exec(text)?.index ?? text.length;
}

/** Past the closing quote; the end of the text where there is none. */
function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') return at + 1;
    if (character === '\\') at += 1;
  }
  return text.length;
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
