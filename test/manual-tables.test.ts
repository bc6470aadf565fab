/** The README's tables are the program's. README_UPDATE=1 writes them into it instead. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import { loadSettings } from '../src/settings/load.ts';
import { README_PATH, readBlocks } from './support/manual-blocks.ts';
import {
  TABLE_HEADS, commandRows, endpointRows, settingRows, type TableRows,
} from './support/manual-tables.ts';

test('the README lists every setting with its default and its unit', () => {
  check(TABLE_HEADS.settings, settingRows());
});

test('the README lists every command with its options', () => {
  check(TABLE_HEADS.commands, commandRows());
});

test('the README lists every endpoint with its scope', async () => {
  const data = mkdtempSync(join(tmpdir(), 'hookshelf-readme-'));
  const shelf = await createHookshelf({ data });
  try {
    const { url } = await shelf.listen({ port: 0 });
    const document = JSON.parse(await fetchText(`${url}/openapi.json`));
    check(TABLE_HEADS.endpoints, endpointRows(document.paths));
  } finally {
    await shelf.close();
    rmSync(data, { recursive: true });
  }
});

test('the settings file that the README shows is a good one', () => {
  const files = readBlocks().filter(({ language }) => language === 'json');
  assert.ok(files.length > 0);
  for (const { lines } of files) {
    loadSettings({ file: { origin: 'README.md', value: JSON.parse(lines.join('\n')) } });
  }
});

test('the README names every scenario that is measured', () => {
  const run = readFileSync(new URL('bench/run.ts', import.meta.url), 'utf8');
  const names = [...run.matchAll(/^  '([a-z-]+)': /gm)].map(([, name]) => `\`${name}\``);
  assert.ok(names.length > 5);
  const [, performance = ''] = readFileSync(README_PATH, 'utf8').split('\n## Performance\n');
  assert.deepEqual(names.filter((name) => !performance.includes(name)), []);
});

function check(head: string, rows: TableRows): void {
  const lines = readFileSync(README_PATH, 'utf8').split('\n');
  const start = lines.indexOf(head) + 2;
  assert.ok(start > 1, `README.md has no table ${head}`);
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'));
  if (process.env['README_UPDATE'] === undefined) {
    assert.deepEqual(lines.slice(start, end), rows);
  } else {
    lines.splice(start, end - start, ...rows);
    writeFileSync(README_PATH, lines.join('\n'));
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
