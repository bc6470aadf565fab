/**
 * Every command of the README is run, and prints what the README says. README_UPDATE=1 writes what
 * they print into the README instead.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  README_PATH, fileNameOf, normalise, readBlocks, stepsOf, type Block, type Step,
} from '../support/manual-blocks.ts';
import { ReadmeShell } from '../support/manual-shell.ts';

const PROGRAMS = { curl: '--version', openssl: 'version', jq: '--version' };
const missing = Object.entries(PROGRAMS)
  .filter(([program, word]) => spawnSync(program, [word]).status !== 0)
  .map(([program]) => program);
const hasBash = spawnSync('bash', ['--version']).status === 0;
const isUpdating = process.env['README_UPDATE'] !== undefined;

test('the README does what it says, command by command', {
  skip: !hasBash && 'bash is needed',
}, async (context) => {
  const shell = new ReadmeShell();
  const printed = new Map<Step, string>();
  let lacking = '';
  try {
    await shell.start();
    for (const block of readBlocks()) {
      const name = fileNameOf(block);
      if (name !== null) shell.writeFile(name, block.lines);
      if (block.language !== 'console') continue;
      // What follows builds on what came before.
      lacking ||= needsOf(block);
      await context.test(`${block.section}, README.md:${block.line}`, {
        skip: lacking !== '' && `${lacking} must be there`,
      }, async () => {
        lacking = 'what came before';
        await runBlock(shell, block, printed);
        lacking = '';
      });
    }
  } finally {
    await shell.close();
    if (isUpdating) update(printed);
  }
});

async function runBlock(
  shell: ReadmeShell, block: Block, printed: Map<Step, string>,
): Promise<void> {
  for (const step of stepsOf(block)) {
    const { isAsShown, output } = await shell.run(step);
    if (isAsShown) continue;
    printed.set(step, output);
    if (isUpdating) continue;
    const where = `README.md:${step.line}: $ ${step.command}`;
    assert.equal(normalise(output).trimEnd(), normalise(step.expected.join('\n')), where);
    assert.fail(`${where}\nprinted\n${output}`);
  }
}

function needsOf(block: Block): string {
  const text = block.lines.join('\n');
  return missing.filter((program) => new RegExp(`\\b${program}\\b`).test(text)).join(', ');
}

function update(printed: ReadonlyMap<Step, string>): void {
  const lines = readFileSync(README_PATH, 'utf8').split('\n');
  for (const [step, output] of [...printed].reverse()) {
    const text = output.replaceAll('\r', '').replace(/[ \t]+$/gm, '').trimEnd();
    const start = step.line - 1 + step.command.split('\n').length;
    lines.splice(start, step.expected.length, ...text === '' ? [] : text.split('\n'));
  }
  writeFileSync(README_PATH, lines.join('\n'));
}
