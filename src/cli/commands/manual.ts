/** `manual [chapter]`: the chapters of the manual, the text of one, or the sections with a word. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CHAPTERS } from '../../manual/chapters.ts';
import type { Chapter } from '../../manual/chapters.ts';
import { getChapter, readChapter } from '../../manual/read-chapter.ts';
import { searchManual } from '../../manual/search-manual.ts';
import type { Section } from '../../manual/search-manual.ts';
import type { Column } from '../terminal/text-table.ts';
import type { CommandContext } from './command-context.ts';

const COLUMNS: readonly Column<Chapter>[] = [
  { title: 'CHAPTER', value: ({ name }) => name, fit: 'whole' },
  { title: 'WHAT IS IN IT', value: ({ summary }) => summary, fit: 'wrap' },
];

const SECTION_COLUMNS: readonly Column<Section>[] = [
  { title: 'CHAPTER', value: ({ chapter }) => chapter, fit: 'whole' },
  { title: 'SECTION', value: ({ heading }) => heading, fit: 'wrap' },
];
/** For people; with --json all sections are printed. */
const SECTIONS_MAX = 20;

/** Throws `not_found` where there is neither such a chapter nor a section with all the words. */
export async function manual(context: CommandContext): Promise<void> {
  const { args: { operand }, output } = context;
  if (operand === undefined) return output.list(CHAPTERS, COLUMNS, '');
  const isChapter = CHAPTERS.some(({ name }) => name === operand);
  const sections = isChapter ? [] : searchManual(operand);
  if (sections.length === 0) return show(context, getChapter(operand));
  const listed = output.isJson ? sections : sections.slice(0, SECTIONS_MAX);
  await output.list(listed, SECTION_COLUMNS, '');
  const others = sections.length - listed.length;
  if (others > 0) output.note(`${others} more sections have it: give more words, in quotes`);
}

async function show({ output, io }: CommandContext, chapter: Chapter): Promise<void> {
  const text = readChapter(chapter);
  if (output.isJson) return output.json({ ...chapter, text });
  const pager = io.environment['PAGER'] ?? '';
  const isPaged = io.stdout.isTTY === true && pager !== '';
  if (!isPaged || !await showInPager(text, pager, io.environment)) await output.text(text);
}

/** A shell ends with these when there is no such program, or one that cannot be run. */
const NOT_RUN = [126, 127];

/**
 * Shows long text through a pager. `command` may have options (`less -R`). Resolves when the pager
 * has ended, with false when it could not be run, which the shell has said then.
 */
async function showInPager(
  text: string, command: string, environment: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  // Ctrl-C is for the pager: it must not end this process.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  try {
    const stdio = ['pipe', 'inherit', 'inherit'] as const;
    const pager = spawn(command, { shell: true, stdio: [...stdio], env: { ...environment } });
    // A user may leave the pager before the end of the text.
    pager.stdin?.on('error', ignore);
    pager.stdin?.end(text);
    const [code] = await once(pager, 'close');
    return !NOT_RUN.includes(Number(code));
  } finally {
    process.removeListener('SIGINT', ignore);
  }
}
