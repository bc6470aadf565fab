/** A question to the person at the terminal. */
import { escapeControls } from '../../base/text/printable.ts';
import type { Io, Terminal } from './process-io.ts';

const YES = /^\s*y(es)?\s*$/i;
const ANSWER_CHARACTERS_MAX = 1024;

/** The terminal that shows a question; null when nobody is there to read and answer it. */
export function findTerminal({ stdin, stdout, stderr }: Io): Terminal | null {
  if (stdin.isTTY !== true) return null;
  // Standard error may go into a file, where nobody would see the question.
  return [stderr, stdout].find(({ isTTY }) => isTTY === true) ?? null;
}

/** True for `y` and `yes`. Any other line is a no, and so is the end of the input. */
export async function askYesOrNo(
  { stdin }: Io, terminal: Terminal, question: string,
): Promise<boolean> {
  terminal.write(`${escapeControls(question)} [y/N] `);
  let answer = '';
  // Leaving the loop closes standard input, which would keep the process alive.
  for await (const chunk of stdin) {
    answer += String(chunk);
    if (answer.includes('\n') || answer.length > ANSWER_CHARACTERS_MAX) break;
  }
  if (!answer.includes('\n')) terminal.write('\n');
  return YES.test(answer.split('\n')[0] ?? '');
}
