/** The manual's tables are the program's. MANUAL_UPDATE=1 writes them into it instead. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../src/settings/load-settings.ts';
import { commandOptions } from '../src/webhooks/actions/commands/command-options.ts';
import { describePresets } from '../src/webhooks/senders/presets/describe-presets.ts';
import { openHookshelf } from './support/embedded.ts';
import { parseExposition } from './support/exposition.ts';
import { PAGES, fileNameOf, pathOfPage, readBlocks, readPage } from './support/manual-blocks.ts';
import {
  TABLE_HEADS, commandRows, customerRows, endpointRows, listMetrics, metricRows, senderRows,
  settingRows, type TableRows,
} from './support/manual-tables.ts';
import { hasProgram } from './support/shell.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { startRelay } from './webhooks/relay.ts';

test('the manual lists every setting with its default and its unit', () => {
  check('src/manual/settings.md', TABLE_HEADS.settings, settingRows());
});

test('the manual lists every command with its options', () => {
  check('src/manual/commands.md', TABLE_HEADS.commands, commandRows());
});

test('the manual lists every sender that is verified by name', () => {
  check('src/manual/senders.md', TABLE_HEADS.senders, senderRows());
});

test('the manual says of each sender what nothing confirms', () => {
  const text = readPage('src/manual/senders.md').replace(/\s+/g, ' ');
  const missing = describePresets().filter(({ unconfirmed, name }) =>
    unconfirmed !== null && !text.includes(`- \`${name}\`: ${unconfirmed}`));
  assert.deepEqual(missing.map(({ name, unconfirmed }) => `- \`${name}\`: ${unconfirmed}`), []);
});

test('the manual lists every endpoint with its scope', async (context) => {
  const shelf = await openHookshelf(context);
  const { url } = await shelf.listen({ port: 0 });
  const document = JSON.parse(await fetchText(`${url}/openapi.json`));
  check('src/manual/endpoints.md', TABLE_HEADS.endpoints, endpointRows(document.paths));
  check('src/manual/customers.md', TABLE_HEADS.customers, customerRows(document.paths));
});

test('the manual lists every metric with its labels', async (context) => {
  check('src/manual/metrics.md', TABLE_HEADS.metrics, metricRows());
  const labels = new Map(listMetrics().map(({ name, labels }) => [name, labels.join()]));
  const shelf = await openHookshelf(context);
  const { url } = await shelf.listen({ port: 0 });
  const families = [...parseExposition(await fetchText(`${url}/metrics`))];
  assert.ok(families.length > 30);
  for (const [name, { samples }] of families) {
    const [[key = ''] = []] = samples;
    const shown = [...key.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
    assert.ok(labels.has(name), `${name} is in no table`);
    if (samples.size === 0) continue;
    assert.equal(shown.filter((label) => label !== 'le').join(), labels.get(name), name);
  }
});

test('the manual names no metric that there is not', () => {
  const names = new Set(listMetrics().map(({ name }) => name));
  const named = PAGES.flatMap((page) => [...readPage(page).matchAll(/\bhookshelf_[a-z_]+/g)])
    .map(([name]) => name);
  assert.ok(named.length > 50);
  assert.deepEqual(named.filter((name) => !names.has(name)), []);
});

test('Prometheus takes the scrape job and the rules of the manual', {
  skip: !hasProgram('promtool') && "promtool is missing: Debian's package prometheus has it",
}, () => {
  const folder = createTemporaryFolder();
  const files = readBlocks('src/manual/metrics.md').filter(({ language }) => language === 'yaml');
  for (const block of files) {
    writeFileSync(join(folder, fileNameOf(block) ?? ''), block.lines.join('\n'));
  }
  const [job = '', rules = ''] = files.map((block) => join(folder, fileNameOf(block) ?? ''));
  // Without the syntax alone it would look for the file with the token.
  const checked = execFileSync('promtool', ['check', 'config', '--syntax-only', job]).toString()
    + execFileSync('promtool', ['check', 'rules', rules]).toString();
  assert.match(checked, /prometheus\.yml is valid/);
  assert.match(checked, /SUCCESS: 7 rules found/);
});

test('the manual lists every built-in action with its options', async () => {
  const relay = await startRelay();
  const runCommand = { identifier: 'run-command', options: commandOptions([]) };
  const actions = [...relay.webhooks.actions.list(), runCommand];
  await relay.close();
  const [, section = ''] = readPage('src/manual/incoming.md').split('## Actions that are built in');
  const [, count] = /(\w+) actions are built in/.exec(section) ?? [];
  assert.equal(count, NUMBERS[actions.length]);
  const rows = [...section.matchAll(/^\| `([\w-]+)` \| (.*?) \|/gm)]
    .map(([, identifier = '', options = '']) => [identifier, optionNamesIn(options)]);
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(actions.map((action) =>
    [action.identifier, Object.keys(action.options)])));
});

test('the settings file that the manual shows is a good one', () => {
  const files = PAGES.flatMap(readBlocks).filter((block) =>
    block.language === 'json' && fileNameOf(block) === null);
  assert.ok(files.length > 0);
  for (const { lines } of files) {
    loadSettings({ file: { origin: 'the manual', value: JSON.parse(lines.join('\n')) } });
  }
});

test('the manual names every scenario that is measured', () => {
  const run = readFileSync(new URL('bench/scenarios.ts', import.meta.url), 'utf8');
  const names = [...run.matchAll(/^  '([a-z-]+)': /gm)].map(([, name]) => `\`${name}\``);
  assert.ok(names.length > 5);
  const text = readPage('src/manual/performance.md');
  assert.deepEqual(names.filter((name) => !text.includes(name)), []);
});

const NUMBERS = [
  'No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten',
];

/** The values that an option may have stand behind a colon: `level`: `debug`, `info`. */
function optionNamesIn(cell: string): string[] {
  const [names = ''] = cell.split(':');
  return [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

function check(page: string, head: string, rows: TableRows): void {
  const lines = readPage(page).split('\n');
  const start = lines.indexOf(head) + 2;
  assert.ok(start > 1, `${page} has no table ${head}`);
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'));
  if (process.env['MANUAL_UPDATE'] === undefined) {
    assert.deepEqual(lines.slice(start, end), rows, `npm run manual writes this table of ${page}`);
  } else {
    lines.splice(start, end - start, ...rows);
    writeFileSync(pathOfPage(page), lines.join('\n'));
  }
}

function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
