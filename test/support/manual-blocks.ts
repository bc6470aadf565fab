/**
 * The README and the chapters of the manual as their tests see them: fenced blocks. In a `console`
 * block a line that begins with `$ ` is a command, which goes on while lines end in a backslash;
 * the other lines are what it prints. A block of code whose first line is a comment with a file
 * name, such as `// receiver.mjs`, is a file. The word `fails` behind the language says that a
 * command of the block is meant to fail.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const MANUAL = 'src/manual';

/** The README and every chapter, as paths from the root of the clone. */
export const PAGES: readonly string[] = ['README.md', ...readdirSync(join(ROOT, MANUAL))
  .filter((name) => name.endsWith('.md')).sort().map((name) => `${MANUAL}/${name}`)];

export function pathOfPage(page: string): string {
  return join(ROOT, page);
}

export function readPage(page: string): string {
  return readFileSync(pathOfPage(page), 'utf8');
}

export type Step = {
  readonly command: string;
  readonly expected: readonly string[];
  /** Of the command in its page, from 1. */
  readonly line: number;
};

export type Block = {
  readonly page: string;
  /** The heading above it. */
  readonly section: string;
  readonly language: string;
  readonly mayFail: boolean;
  readonly lines: readonly string[];
  /** Of its opening fence, from 1. */
  readonly line: number;
};

export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let section = '';
  let open: Omit<Block, 'page' | 'section' | 'lines'> & { lines: string[] } | null = null;
  for (const [index, content] of readPage(page).split('\n').entries()) {
    const [, language, flag] = /^```(\S*)(?: (.*))?$/.exec(content) ?? [];
    if (open === null) {
      section = /^##? (.*)/.exec(content)?.[1] ?? section;
      if (language !== undefined) {
        open = { language, mayFail: flag === 'fails', line: index + 1, lines: [] };
      }
    } else if (language === undefined) {
      open.lines.push(content);
    } else {
      blocks.push({ page, section, ...open });
      open = null;
    }
  }
  return blocks;
}

export function stepsOf(block: Block): Step[] {
  const steps: { command: string; expected: string[]; line: number }[] = [];
  let isContinued = false;
  for (const [index, content] of block.lines.entries()) {
    const last = steps.at(-1);
    if (isContinued && last !== undefined) {
      last.command += `\n${content}`;
      isContinued = content.endsWith('\\');
    } else if (content.startsWith('$ ')) {
      steps.push({ command: content.slice(2), expected: [], line: block.line + 1 + index });
      isContinued = content.endsWith('\\');
    } else if (last === undefined) {
      throw new Error(`${block.page}:${block.line}: output stands before any command`);
    } else {
      last.expected.push(content);
    }
  }
  return steps;
}

const SHOWING = /(?:^|\| )(?:jq|sed -n|cat|tail|hookshelf \S+:(?:list|show))\b/;
const HAS_OUTPUT_ELSEWHERE = / > |=\$\(| & |\bxargs\b/;

/** Whether the command is there for what it prints. */
export function isToShow({ command }: Step): boolean {
  return SHOWING.test(command) && !HAS_OUTPUT_ELSEWHERE.test(command);
}

/** The name of the file that a block of code shows; null when it shows none. */
export function fileNameOf(block: Block): string | null {
  if (block.language === 'console') return null;
  const [first = '', second = ''] = block.lines;
  // A script names its shell first.
  const line = first.startsWith('#!') ? second : first;
  return /^(?:\/\/|#) ([\w./-]+\.[a-z]+)$/.exec(line)?.[1] ?? null;
}

const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d{3})?Z/g, '<time>'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, '<date>'],
  [/"[0-9a-z]{6,}-[0-9a-f]{8}"/g, '"<etag>"'],
  [/^(X-Request-Id: ).*/gim, '$1<request>'],
  [/\bcursor=[\w%-]+/g, 'cursor=<cursor>'],
  [/\bwhsec_[A-Za-z0-9+/]+=*/g, '<secret>'],
  [/\bhst?_[A-Za-z0-9_-]{20,}/g, '<token>'],
  [/\b[0-9a-f]{64}\b/g, '<hex64>'],
  [/\bv1,[A-Za-z0-9+/]{43}=/g, '<signature>'],
  [/\b(durationMs\S*\s+)\d+/g, '$1<ms>'],
  [/"crc":"[0-9a-f]{8}"/g, '"crc":"<crc>"'],
  [/"bytes":\d+/g, '"bytes":<n>'],
  [/\b\d+ bytes\b/g, '<n> bytes'],
  [/\b(pid|process) \d+/g, '$1 <pid>'],
  // A build in a checkout names its commit, one without git does not.
  [/\b(\d+\.\d+\.\d+(?:-[a-z]+)?)\+[0-9a-f]{12}(?:-dirty)?/g, '$1'],
  [/\bNode v?\d+\.\d+\.\d+/g, 'Node <version>'],
  // Columns are as wide as what stands in them.
  [/ {2,}/g, '  '],
  [/[ \t]+$/gm, ''],
];

/** What differs from run to run is made the same. */
export function normalise(text: string): string {
  return VOLATILE.reduce((rest, [pattern, stand]) => rest.replace(pattern, stand),
    text.replaceAll('\r', ''));
}

/**
 * Whether what was printed is what the page shows: `…` alone on a line stands for any lines,
 * within a line for any text.
 */
export function isAsShown(actual: string, expected: readonly string[]): boolean {
  const pattern = expected.map((line) => line.trim() === '…'
    ? '(?:.*\n)*?'
    : `${normalise(line).split('…').map(escapePattern).join('.*')}\n`).join('');
  return new RegExp(`^${pattern}$`).test(withFinalNewline(normalise(actual)));
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function withFinalNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
