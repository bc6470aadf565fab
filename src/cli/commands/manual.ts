/** `manual [chapter]`: the chapters of the manual, or the text of one. */
import { CHAPTERS } from '../../manual/chapters.ts';
import type { Chapter } from '../../manual/chapters.ts';
import { getChapter, readChapter } from '../../manual/read-chapter.ts';
import { showInPager } from '../terminal/pager.ts';
import type { Column } from '../terminal/text-table.ts';
import type { CommandContext } from './command-context.ts';

const COLUMNS: readonly Column<Chapter>[] = [
  { title: 'CHAPTER', value: ({ name }) => name, isWhole: true },
  { title: 'WHAT IS IN IT', value: ({ summary }) => summary, isProse: true },
];

export async function manual(context: CommandContext): Promise<number> {
  const { args, output } = context;
  if (args.operand === undefined) await output.list(CHAPTERS, COLUMNS, '');
  else await show(context, getChapter(args.operand));
  return 0;
}

async function show({ output, io }: CommandContext, chapter: Chapter): Promise<void> {
  const text = readChapter(chapter);
  if (output.isJson) return output.json({ ...chapter, text });
  const pager = io.environment['PAGER'] ?? '';
  const isPaged = io.stdout.isTTY === true && pager !== '';
  if (!isPaged || !await showInPager(text, pager, io.environment)) await output.text(text);
}
