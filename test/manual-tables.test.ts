/** The manual's tables are the program's. MANUAL_UPDATE=1 writes them into it instead. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { test } from 'node:test';
import { loadSettings } from '../src/settings/load-settings.ts';
import {
  describeCommandOptions,
} from '../src/webhooks/actions/commands/command-options.ts';
import { describePresets } from '../src/webhooks/senders/presets/describe-presets.ts';
import { openHookshelf } from './support/embedded.ts';
import { PAGES, fileNameOf, pathOfPage, readBlocks, readPage } from './support/manual-blocks.ts';
import {
  TABLE_HEADS, commandRows, endpointRows, senderRows, settingRows,
  type TableRows,
} from './support/manual-tables.ts';
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
});

test('the manual lists every built-in action with its options', async () => {
  const relay = await startRelay();
  const runCommand = { identifier: 'run-command', options: describeCommandOptions([]) };
  const actions = [...relay.webhooks.actions.list(), runCommand];
  await relay.close();
  const [, section = ''] = readPage('src/manual/incoming.md').split('## Actions that are built in');
  const [, count] = /(\w+) actions are built in/.exec(section) ?? [];
  assert.equal(count, NUMBERS[actions.length]);
  const rows = [...section.matchAll(/^\| `([\w-]+)` \| (.*?) \|/gm)]
    .map(([, identifier = '', options = '']) => [identifier, optionNamesIn(options)]);
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(actions.map((action) =>
    [action.identifier, action.options.map(({ name }) => name)])));
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
