/** The catalog in the console: adding, changing beside somebody else, importing, deleting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { NEXT_FRAME, Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { openScreen } from './console-look.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
const CSV = 'title,authors,numberOfPages\n"Emma, a novel",Jane Austen,474\nBroken,,1,2\n';

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
      await person.click('link', 'Edit');
      await person.fill('textbox', 'Subtitle', 'mine');
      const [{ id } = { id: '' }] = await books();
      await ask(`${server.url}/api/books/${String(id)}`,
        { method: 'PUT', body: { title: 'Emma', subtitle: 'theirs' } });
      await person.click('button', 'Save');
      await person.find('dialog', 'It was changed meanwhile');
      await person.sees(/theirs[^]*mine/);
      await person.choose('Subtitle to be saved', 'Yours');
      await person.click('button', 'Save them together');
      await person.sees('Saved.');
      assert.equal((await books())[0]?.['subtitle'], 'mine');
      await person.click('link', 'Edit');
      await person.fill('textbox', 'Subtitle', 'typed before');
      await ask(`${server.url}/api/books/${String(id)}`, { method: 'DELETE' });
      await person.click('button', 'Save');
      await person.find('dialog', 'It was deleted meanwhile');
      await person.click('button', 'Save it as a new one');
      // The notice that the first one was added may still be there.
      await until('it is added', async () => (await books()).length === 1);
      assert.deepEqual((await books()).map(({ subtitle }) => subtitle), ['typed before']);
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

test('an empty catalog offers an import, and nothing to filter', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      await openScreen(browser, server.url, '#/books');
      await person.sees('There are no books yet');
      await person.sees('hookshelf book:import --sample');
      const names = (await person.everything()).map(({ name }) => name);
      assert.deepEqual(['Search', 'Keywords', 'Choose all'].filter((name) =>
        names.includes(name)), []);
      await person.click('link', 'Import your file');
      await person.find('heading', 'Import and export');
      await openScreen(browser, server.url, '#/books?q=emma');
      await person.sees('No book matches.');
      await person.find('combobox', 'Search');
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
      await person.click('button', 'Check');
      await person.sees('Choose a file first.');
      // Each fails elsewhere: what was told of the file before it is not taken for its result.
      for (const [name, text, error] of [
        ['books.csv', CSV, 'Line 3: 4 cells, but the header names 3'],
        ['books.jsonl', '{"title":"A"}\n\n{}\n', 'Line 3: Title'],
        ['books.json', '[{"title":"B"},\n{"title":1}]', 'Line 2: Title'],
      ] as const) {
        await chooseFile(name, text);
        await person.click('button', 'Check');
        await person.sees(error);
        await person.sees(
          'would add 1 book, change 0, leave 0 as they are, skip 1; nothing is stored yet');
      }
      assert.equal((await ask(`${server.url}/api/books`)).text.trim(), '[]');
      await chooseFile('books.csv', CSV);
      await person.click('button', 'Check');
      await person.click('button', 'Import these 1');
      await person.sees('reading CSV: added 1 book, changed 0, left 0 as they are, skipped 1.');
      await person.find('link', 'See the 1 new book');
      await person.sees('Choose a file first.', false);
      const [book] = JSON.parse((await ask(`${server.url}/api/books`)).text);
      assert.deepEqual([book.title, book.authors, book.numberOfPages],
        ['Emma, a novel', [{ name: 'Jane Austen' }], 474]);
    } finally {
      await server.stop();
    }
  }));

test('a table of any header is shown as it is read, and a person says what its columns hold', {
  skip,
}, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const person = new Person(browser);
  const showsRows = (...rows: readonly (readonly string[])[]): Promise<void> =>
    until('the first books are shown so', async () =>
      JSON.stringify(await readRows()) === JSON.stringify(rows));
  const readRows = (): Promise<unknown> => browser.evaluate(`return [
    ...[...document.querySelectorAll('form table')].at(-1)?.tBodies[0].rows ?? []].map((row) =>
    [...row.cells].map((cell) => cell.textContent));`);
  try {
    await openScreen(browser, server.url, '#/books/import');
    await chooseFile('own.csv', 'Buch;Scribe;Jahr;Status\nMomo;Michael Ende;c1973;gelesen\n');
    await person.sees('there is no column title');
    await person.choose('What “Buch” holds', 'Title');
    await person.sees('The first books');
    await showsRows(['Momo', '1973', 'Read', 'add: Published put aside']);
    await person.choose('What “Scribe” holds', 'Authors');
    await person.choose('What “Jahr” holds', 'leave it out');
    await showsRows(['Momo', 'Michael Ende', 'Read', 'add']);
    await person.click('button', 'Check');
    await person.click('button', 'Import these 1');
    await person.sees('reading CSV: added 1 book, changed 0, left 0 as they are, skipped 0.');
    const [book] = JSON.parse((await ask(`${server.url}/api/books`)).text);
    assert.deepEqual([book.title, book.authors, book.datePublished, book.metadata],
      ['Momo', [{ name: 'Michael Ende' }], undefined, undefined]);
    // What was said of a file is not said of the next.
    await chooseFile('other.csv', 'Titel;Scribe\nEmma;Jane Austen\n');
    await showsRows(['Emma', 'add']);
  } finally {
    await server.stop();
  }
}));

const GOODREADS = 'Book Id,Title,Author,Author l-f,ISBN13,My Rating\n'
  + '50,"Emma (Novels, #4)",Jane Austen,"Austen, Jane","=""9780141439587""",5\n'
  + '51,,Nobody,,"=""""",0\n';

test('an export of another program is told by its columns, and imported again changes nothing', {
  skip,
}, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const person = new Person(browser);
  try {
    await openScreen(browser, server.url, '#/books/import');
    await chooseFile('books.dat', '');
    await person.sees('The name of the file tells no format: choose one.');
    await chooseFile('books.xlsx', 'PK\x03\x04[Content_Types].xml');
    await person.sees('the file is a spreadsheet: save it as CSV there, and import that file');
    await chooseFile('library.csv', GOODREADS);
    await person.sees('reading a Goodreads export');
    for (const count of ['added 1 book, changed 0, left 0 as they are',
      'added 0 books, changed 0, left 1 as they are']) {
      // It is ticked again after each import: the next file is checked first.
      await person.find('button', 'Check');
      await person.click('checkbox', 'Only check it: store nothing');
      await person.click('button', 'Import');
      await person.sees(`reading a Goodreads export: ${count}, skipped 1.`);
      await person.sees('Line 3: Title: is required: the record has no text in Title '
        + '(record 2, key 51)');
    }
    const [book] = JSON.parse((await ask(`${server.url}/api/books`)).text);
    assert.deepEqual([book.title, book.metadata.source.goodreads['Book Id']], ['Emma', '50']);
  } finally {
    await server.stop();
  }
}));

test('a table of one\'s own is taken at its word, and its new books are taken back', {
  skip,
}, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const person = new Person(browser);
  const books = async (): Promise<readonly Record<string, unknown>[]> =>
    JSON.parse((await ask(`${server.url}/api/books?sort=title`)).text);
  const modes = 'return [...document.querySelectorAll("form.record select")].slice(2, 4)'
    + '.map((select) => select.value);';
  try {
    const emma = { title: 'Emma', authors: [{ name: 'Jane Austen' }], reading: { rating: 5 } };
    await ask(`${server.url}/api/books`, { method: 'POST', body: emma });
    await openScreen(browser, server.url, '#/books/import');
    const makeFile = (rating: number): string =>
      `title;authors;language;rating\nEmma;Jane Austen;en;${rating}\nMomo;Michael Ende;de;\n`;
    const modeOfTable = ['isbn,title', 'update'];
    await chooseFile('own.csv', makeFile(2));
    await person.gives(modes, modeOfTable);
    await person.click('button', 'Check');
    await person.sees('the file says something else than the catalog: Reading, rating in 1 book '
      + '(first: line 2, “Emma”); “fill what is missing” leaves it as it is');
    await person.click('button', 'Import these 2');
    await person.sees('added 1 book, changed 1, left 0');
    await person.sees('What it has changed in 1 other book stays.');
    await chooseFile('own.csv', makeFile(3));
    await person.gives(modes, modeOfTable);
    await person.click('button', 'Check');
    await person.click('button', 'Import these 1');
    await person.sees('added 0 books, changed 1, left 1');
    assert.deepEqual((await books()).map(({ inLanguage, reading }) => [inLanguage, reading]),
      [['en', { rating: 3 }], ['de', undefined]]);
    // Of another program nothing is known yet; its next file is known by the ids.
    const export2 = GOODREADS.replace(',5\n', ',1\n').replace(' (Novels, #4)', '');
    await chooseFile('library.csv', export2);
    await person.gives(modes, ['isbn,title', 'fill']);
    await person.click('button', 'Check');
    await person.click('button', 'Import these 1');
    await person.sees('added 0 books, changed 1, left 0');
    await chooseFile('library.csv', export2.replace(',1\n', ',4\n'));
    await person.gives(modes, ['', 'update']);
    assert.deepEqual((await books())[0]?.['reading'], { rating: 3 });
    await person.choose('Books that are here already', 'take what the file says');
    // Pressed before the beginning of the file is read, which chooses how its books are matched.
    await setNetwork({ latency: 500 });
    await chooseFile('two.csv', 'title;authors\nMomo;Michael Ende\nMatilda;Roald Dahl\n');
    await person.click('button', 'Check');
    await person.click('button', 'Import these 1');
    await setNetwork({});
    await person.sees('added 1 book');
    await person.click('button', 'Undo: delete the 1 new book');
    await person.sees('Deleted 1 book.');
    assert.deepEqual((await books()).map(({ title }) => title), ['Emma', 'Momo']);
    await person.find('link', 'See the books');
    await openScreen(browser, server.url, '#/books?owned=true');
    await person.sees('No book matches.');
    await person.choose('Owned', 'all');
    await person.sees('2 books');
    const [emmaNow] = await books();
    await ask(`${server.url}/api/books/${String(emmaNow?.['id'])}`, {
      method: 'PUT', body: { title: 'Emma', metadata: { 'Lent to': 'Jürgen' } },
    });
    await openScreen(browser, server.url, '#/books?in=metadata');
    await person.sees('2 books');
    await person.fill('combobox', 'Search', 'jurgen');
    await person.sees('1 book');
    await person.find('combobox', 'Search in');
  } finally {
    await server.stop();
  }
}));

test('a file whose bytes do not tell its encoding is read as a person says', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      await openScreen(browser, server.url, '#/books/import');
      await chooseFile('own.csv', [...'title\nMomo\n'].join('\0') + '\0');
      await person.sees('the file looks like UTF-16 without a byte order mark');
      await person.choose('Its encoding', 'UTF-16');
      await person.sees('reading CSV (UTF-16)');
      await person.sees('The first books');
    } finally {
      await server.stop();
    }
  }));

test('a file of many records is imported though the browser reads no answer, or stopped', { skip },
  () => inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      await openScreen(browser, server.url, '#/books/import');
      // More than the 8 MiB of answers that wait for a caller, if all were told.
      await browser.evaluate(`const transfer = new DataTransfer();
        const line = '{"keywords":["' + 'x'.repeat(100) + '"]}\\n';
        transfer.items.add(new File([line.repeat(400_000)], 'many.jsonl'));
        document.querySelector('input[type=file]').files = transfer.files;`);
      await person.click('button', 'Check');
      await person.sees('would add 0 books, change 0, leave 0 as they are, skip 400000');
      await person.sees('and 399,800 more');
      // So slow that the file takes a minute: it is stopped long before.
      await setNetwork({ uploadThroughput: 1_000_000 });
      await person.click('button', 'Check');
      await person.click('button', 'Stop');
      await person.sees('Stopped.');
      await browser.evaluate(`const transfer = new DataTransfer();
        const line = '{"title":"' + 'x'.repeat(1000) + '"}\\n';
        transfer.items.add(new File([line.repeat(40_000)], 'many.jsonl'));
        document.querySelector('input[type=file]').files = transfer.files;`);
      await person.click('checkbox', 'Only check it: store nothing');
      await person.click('button', 'Import');
      await person.sees(/^[1-9][\d,]* records? stored\.$/m);
      await person.click('button', 'Stop');
      await person.sees('Stopped. What was read before is stored.');
    } finally {
      await setNetwork({});
      await server.stop();
    }
  }));

/** Without a limit as fast as it goes: `latency` in ms, `uploadThroughput` in bytes a second. */
async function setNetwork(
  limits: { readonly uploadThroughput?: number; readonly latency?: number },
): Promise<void> {
  await browser.command('Network.enable', {});
  await browser.command('Network.emulateNetworkConditions',
    { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1, ...limits });
}

/** Keeps the files that the page offers, as `name: text`, in place of saving them. */
const KEEP_DOWNLOADS = `window.downloads = [];
  const click = HTMLAnchorElement.prototype.click;
  URL.createObjectURL = (blob) => { window.blob = blob; return '#'; };
  HTMLAnchorElement.prototype.click = function () {
    if (this.download === '') return click.call(this);
    const { download } = this;
    window.blob.text().then((text) => window.downloads.push(download + ': ' + text));
  };`;

test('the books that the list shows are exported in each format, in its order', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      for (const title of ['Emma', 'Persuasion', 'Ulysses']) {
        const authors = [{ name: title === 'Ulysses' ? 'James Joyce' : 'Jane Austen' }];
        await ask(`${server.url}/api/books`, { method: 'POST', body: { title, authors } });
      }
      await openScreen(browser, server.url, '#/books?author=austen&sort=-title');
      await person.click('link', 'Import and export');
      await person.sees('An import fires no events');
      await person.sees('2 books that the list shows');
      await browser.evaluate(KEEP_DOWNLOADS);
      for (const [label, beginning] of [
        ['JSON', /^books\.json: \[\s*{"id":".*"title":"Persuasion"[^]*"Emma"/],
        ['JSON Lines', /^books\.jsonl: {"id":".*"Persuasion"[^]*"Emma"/],
        ['CSV for a spreadsheet', /^books\.csv: \ufeff?id,[^]*,Persuasion,[^]*,Emma,/],
        ['CSV', /^books\.csv: id,[^]*,Persuasion,[^]*,Emma,/],
        ['JSON-LD', /^books\.jsonld: {"@context":"https:\/\/schema.org"[^]*"Persuasion"[^]*"Emma"/],
        ['CSL-JSON', /^books\.csl\.json: \[[^]*"Persuasion"[^]*"Emma"/],
        ['BibTeX', /^books\.bib: @book{Austen[^]*Persuasion[^]*Emma/],
        ['RIS', /^books\.ris: TY {2}- BOOK[^]*Persuasion[^]*Emma/],
      ] as const) {
        await person.click('button', `Download ${label}`);
        const [file] = await waitForDownload();
        assert.match(file ?? '', beginning);
        assert.doesNotMatch(file ?? '', /Ulysses/);
      }
      await person.click('link', 'export all');
      await person.sees('All books, with all that is known of them.');
      assert.deepEqual((await browser.complaints())
        .filter((text) => !text.includes('"recommendation"')), []);
    } finally {
      await server.stop();
    }
  }));

/** The one file that the page has offered since the last call. */
async function waitForDownload(): Promise<readonly string[]> {
  for (let tries = 0; tries < 400; tries += 1) {
    const files = await browser.evaluate('return window.downloads.splice(0);');
    if (Array.isArray(files) && files.length > 0) return files.map(String);
    await browser.evaluate(NEXT_FRAME);
  }
  return [];
}
