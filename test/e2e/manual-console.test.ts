/**
 * Every command of the README and of the manual is run, and prints what the page says: those of
 * two pages each time, of all in a long run.
 * MANUAL_UPDATE=1 writes what they print into the pages instead. Each page is a story of its own,
 * told from its beginning in an empty folder. No command fails, but in a block that begins with
 * "```console fails", and each that is there to show something does.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  PAGES, fileNameOf, isToShow, normalise, pathOfPage, readBlocks, readPage, stepsOf,
  type Block, type Step,
} from '../support/manual-blocks.ts';
import { ManualShell } from '../support/manual-shell.ts';
import { IS_LONG } from '../support/long.ts';
import { hasProgram } from '../support/shell.ts';

const missing = ['curl', 'openssl', 'jq', 'git'].filter((program) => !hasProgram(program));
const isUpdating = process.env['MANUAL_UPDATE'] !== undefined;
/** The first pages that a newcomer reads; a long run takes all. */
const FIRST_PAGES = ['README.md', 'first-webhook.md'];
const pages = PAGES.filter((page) => IS_LONG || isUpdating || FIRST_PAGES.includes(basename(page)));

for (const page of pages) {
  const blocks = readBlocks(page);
  if (!blocks.some(({ language }) => language === 'console')) continue;
  test(`${page} does what it says, command by command`, {
    skip: !hasProgram('bash') && 'bash is needed',
  }, (context) => runPage(context, page, blocks));
}

async function runPage(
  context: TestContext, page: string, blocks: readonly Block[],
): Promise<void> {
  const shell = new ManualShell();
  const printed = new Map<Step, string>();
  let lacking = '';
  try {
    await shell.start();
    for (const block of blocks) {
      const name = fileNameOf(block);
      // JSON has no comments: there the line with the name is not part of the file.
      const lines = block.language === 'json' ? block.lines.slice(1) : block.lines;
      if (name !== null) shell.writeFile(name, lines);
      if (block.language !== 'console') continue;
      // What follows builds on what came before.
      lacking ||= needsOf(block);
      await context.test(`${block.section}, ${page}:${block.line}`, {
        skip: lacking !== '' && `${lacking} must be there`,
      }, async () => {
        lacking = 'what came before';
        await runBlock(shell, block, printed);
        lacking = '';
      });
    }
  } finally {
    await shell.close();
    if (isUpdating) update(page, printed);
  }
}

async function runBlock(
  shell: ManualShell, block: Block, printed: Map<Step, string>,
): Promise<void> {
  let failedCount = 0;
  for (const step of stepsOf(block)) {
    const { isAsShown, output, exitCode } = await shell.run(step);
    const where = `${block.page}:${step.line}: $ ${step.command}`;
    if (!isAsShown) {
      printed.set(step, output);
      if (!isUpdating) {
        assert.equal(normalise(output).trimEnd(), normalise(step.expected.join('\n')), where);
        assert.fail(`${where}\nprinted\n${output}`);
      }
    }
    assert.ok(exitCode === 0 || block.mayFail,
      `${where}\nfails, and its block does not begin with \`\`\`console fails\n${output}`);
    assert.ok(output.trim() !== '' || !isToShow(step), `${where}\nshows nothing`);
    failedCount += exitCode === 0 ? 0 : 1;
  }
  assert.ok(failedCount > 0 || !block.mayFail, `${block.page}:${block.line}: nothing fails`);
}

function needsOf(block: Block): string {
  const text = block.lines.join('\n');
  return missing.filter((program) => new RegExp(`\\b${program}\\b`).test(text)).join(', ');
}

function update(page: string, printed: ReadonlyMap<Step, string>): void {
  const lines = readPage(page).split('\n');
  for (const [step, output] of [...printed].reverse()) {
    const text = output.replaceAll('\r', '').replace(/[ \t]+$/gm, '').trimEnd();
    const start = step.line - 1 + step.command.split('\n').length;
    lines.splice(start, step.expected.length, ...text === '' ? [] : text.split('\n'));
  }
  writeFileSync(pathOfPage(page), lines.join('\n'));
}
