/** The catalog in the console: adding, changing beside somebody else, importing, deleting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { openScreen } from './console-look.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
const CSV = 'title,authors,numberOfPages\n"Emma, a novel",Jane Austen,474\nBroken,,none\n';

const browser = Browser.forTests();

/** Chooses a file as a person would in the dialog of the system. */
async function chooseFile(name: string, text: string): Promise<void> {
  await browser.evaluate(`const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    const input = document.querySelector('input[type=file]');
    input.files = transfer.files;
    input.dispatchEvent(new Event('change'));`);
}

test('a book is added, changed beside somebody else, and deleted', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    const books = async (): Promise<readonly Record<string, unknown>[]> =>
      JSON.parse((await ask(`${server.url}/api/books`)).text);
    try {
      await openScreen(browser, server.url, '#/books/new');
      await person.fill('textbox', 'ISBN', '12');
      await person.press('Enter');
      await person.sees('Some fields cannot be saved as they are.');
      await person.gives(
        'return [...document.querySelectorAll("[aria-invalid]")].map(({ name }) => name);',
        ['title', 'isbn']);
      await person.fill('textbox', 'ISBN', '');
      await person.fill('textbox', 'Title', 'Emma');
      await person.press('Enter');
      await person.find('heading', 'Emma');
      await person.click('button', 'Edit');
      await person.fill('textbox', 'Subtitle', 'mine');
      const [{ id } = { id: '' }] = await books();
      await ask(`${server.url}/api/books/${String(id)}`,
        { method: 'PUT', body: { title: 'Emma', subtitle: 'theirs' } });
      await person.click('button', 'Save');
      await person.find('dialog', 'It was changed meanwhile');
      await person.sees(/mine[^]*theirs/);
      await person.click('button', 'Put mine in its place');
      await person.sees('Saved.');
      assert.equal((await books())[0]?.['subtitle'], 'mine');
      await person.click('button', 'Delete');
      await person.sees('“Emma” will be gone');
      await person.click('button', 'Delete it');
      await person.sees('There are no books yet');
      assert.deepEqual(await books(), []);
      assert.deepEqual((await browser.complaints()).filter((text) => !/status of 4/.test(text)
        && !text.includes('"recommendation"')), []);
    } finally {
      await server.stop();
    }
  }));

test('a file is checked first, then imported, and its errors are told by line', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      await openScreen(browser, server.url, '#/books/import');
      // Each fails elsewhere: what was told of the file before it is not taken for its result.
      for (const [name, text, error] of [
        ['books.csv', CSV, 'Line 3: /numberOfPages'],
        ['books.jsonl', '{"title":"A"}\n\n{}\n', 'Line 3: /title'],
        ['books.json', '[{"title":"B"},\n{"title":1}]', 'Line 2: /title'],
      ] as const) {
        await chooseFile(name, text);
        await person.click('button', 'Import');
        await person.sees(error);
        await person.sees(
          'would have imported 1, updated 0, unchanged 0, skipped 1; nothing was stored');
      }
      assert.equal((await ask(`${server.url}/api/books`)).text.trim(), '[]');
      await person.click('checkbox', 'Only check it: store nothing');
      await chooseFile('books.csv', CSV);
      await person.click('button', 'Import');
      await person.sees('reading CSV: imported 1, updated 0, unchanged 0, skipped 1.');
      const [book] = JSON.parse((await ask(`${server.url}/api/books`)).text);
      assert.deepEqual([book.title, book.authors, book.numberOfPages],
        ['Emma, a novel', [{ name: 'Jane Austen' }], 474]);
    } finally {
      await server.stop();
    }
  }));
