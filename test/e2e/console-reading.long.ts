/** What books are to their reader, in the console: stars, status and covers, in list and cards. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';
import { openScreen, readLook } from './console-look.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUB'
  + 'AScY42YAAAAASUVORK5CYII=', 'base64');
/** Each row with its cover, the title, and what is said of its reading. */
const ROWS = `return [...document.querySelectorAll('.rows tr[data-key]')].map((row) => [
  row.querySelector('.cover').localName, row.querySelector('.with-cover').innerText.trim(),
  row.querySelector('.reading').innerText.trim()]);`;
const at = new ConsoleAtWork({ HOOKSHELF_CONSOLE_IMAGES: 'true' });

/** A server of images elsewhere, with what it was asked for. */
async function serveImages(context: TestContext): Promise<{
  readonly url: string; readonly asked: readonly (readonly [string, IncomingHttpHeaders])[];
}> {
  const asked: [string, IncomingHttpHeaders][] = [];
  const server = createServer((request, response) => {
    asked.push([request.url ?? '', request.headers]);
    if (request.url === '/there.png') response.end(PNG);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

test('covers are loaded from where they lie, without a referrer, else a spine is drawn', { skip },
  async (context) => {
    const { person, browser } = at;
    const { url, asked } = await serveImages(context);
    for (const [title, image, reading] of [
      ['Emma', `${url}/there.png`, { status: 'read', rating: 3.5 }],
      ['Gone', `${url}/gone.png`, { status: 'to-read' }], ['Plain', null, { rating: 0.25 }],
    ] as const) {
      await at.call('POST', '/api/books', { title, image, reading });
    }
    for (const layout of ['', '?as=cards']) {
      await at.open(`#/books${layout}`);
      await person.gives(ROWS, [['span', 'Plain', '¼'], ['span', 'Gone', 'To read'],
        ['img', 'Emma', 'Read ★★★½']]);
    }
    await person.find('image', '3.5 of 5 stars');
    await person.click('link', 'Emma');
    await person.gives("return document.querySelector('.book img.cover')?.naturalWidth;", 1);
    assert.ok(asked.length >= 2);
    for (const [, headers] of asked) assert.equal(headers.referer, undefined);
    assert.deepEqual((await browser.complaints()).filter((text) =>
      text.includes('"level":"error"') && !text.includes('"source":"network"')), []);
  });

test('without the setting nothing is loaded from elsewhere', { skip }, (context) =>
  inFolder(async (data) => {
    const { person, browser } = at;
    const { url, asked } = await serveImages(context);
    const server = await startServer(['--data', data]);
    try {
      await ask(`${server.url}/api/books`,
        { method: 'POST', body: { title: 'Emma', image: `${url}/there.png` } });
      const { foreign } = await openScreen(browser, server.url, '#/books');
      await person.gives(ROWS, [['span', 'Emma', '']]);
      assert.deepEqual([foreign, asked], [[], []]);
    } finally {
      await server.stop();
    }
  }));

test('values of ratings and of years filter, one at a time', { skip }, async () => {
  const { person } = at;
  for (const [title, rating, finishedOn] of [
    ['Low', 1.75, '2023-02'], ['High', 4.75, '2023'], ['Best', 5, '2024-01-01'],
  ] as const) {
    await at.call('POST', '/api/books',
      { title, keywords: ['spans'], reading: { rating, finishedOn } });
  }
  const titles = `return [...document.querySelectorAll('.rows .with-cover')]
    .map(({ innerText }) => innerText.trim());`;
  await at.open('#/books?keyword=spans');
  await person.click('DisclosureTriangle', 'Ratings');
  await person.click('button', '★★★★ 1');
  await person.gives(titles, ['High']);
  await person.find('button', 'Remove Rating: ★★★★');
  await person.click('button', '★★★★★ 1');
  await person.gives(titles, ['Best']);
  await person.click('button', 'Remove Rating: ★★★★★');
  await person.click('DisclosureTriangle', 'Years finished');
  await person.click('button', '2023 2');
  await person.gives(titles, ['High', 'Low']);
  await person.gives('return location.hash;', /finishedFrom=2023&finishedTo=2023/);
});

/** The rows of the table, each with the text of its cells. */
const TABLE = `return [...document.querySelectorAll('.stacked tbody tr')].map((row) =>
  [...row.cells].map(({ innerText }) => innerText.trim()));`;

test('statistics count what was read by each value, under filters, and lead to the books', { skip },
  async () => {
    const { person } = at;
    for (const [title, numberOfPages, reading] of [
      ['One', 100, { status: 'read', rating: 3, finishedOn: '2023-02' }],
      ['Two', 250, { status: 'read', rating: 4.5, finishedOn: '2023' }],
      ['Three', 1, { status: 'read' }], ['Four', 5, { status: 'reading' }],
    ] as const) {
      await at.call('POST', '/api/books',
        { title, numberOfPages, keywords: ['counted'], reading });
    }
    await at.open('#/books?keyword=counted');
    await person.sees('4 books');
    await person.click('link', 'Statistics');
    await person.find('heading', 'Statistics of books');
    await person.gives(TABLE, [['2023', '2', '350', '3.75'], ['not known', '1', '1', '–']]);
    await person.sees('3 books read, 351 pages');
    await person.choose('Count by', 'status');
    await person.gives(TABLE, [['Read', '3', '351', '3.75'], ['Reading', '1', '5', '–']]);
    await person.choose('Count by', 'month');
    await person.gives(TABLE, [['2023-02', '1', '100', '3'],
      ['not known', '2', '251', '4.5']]);
    await person.click('link', '2023-02');
    await person.find('link', 'One');
    await person.sees(/^1 book$/m);
    await person.gives('return location.hash;', /keyword=counted&status=read&finishedFrom=2023-02/);
    await at.open('#/books/statistics?status=reading');
    await person.sees('No book that matches is read.');
    await at.isClean();
  });

test('statistics say how many books have no status, and set it to “Read” until that is undone', {
  skip,
}, async () => {
  const { person } = at;
  for (const [title, reading] of [
    ['One', undefined], ['Two', { rating: 4 }], ['Three', { status: 'reading' }],
  ] as const) {
    await at.call('POST', '/api/books', { title, keywords: ['statusless'], reading });
  }
  await at.open('#/books/statistics?keyword=statusless', 'read');
  await person.sees('2 books that match have no status, and are not counted.');
  await person.sees('Set all to “Read”…', false);
  await at.open('#/books/statistics?keyword=statusless');
  await person.click('button', 'Set all to “Read”…');
  await person.click('button', 'Change 2 books');
  await person.sees('Changed 2 books.');
  await person.gives(TABLE, [['not known', '2', '–', '4']]);
  await person.sees('no status', false);
  await person.click('button', 'Undo');
  await person.sees('2 books are as before.');
  await person.sees('2 books that match have no status, and are not counted.');
  await person.choose('Count by', 'status');
  await person.gives(TABLE, [['Reading', '1', '–', '–'], ['not known', '2', '–', '4']]);
  await person.sees('no status', false);
  await at.isClean();
});

test('covers and stars fit each page, and can be read', { skip }, async () => {
  const { browser } = at;
  await at.call('POST', '/api/books', {
    title: 'A title of some length '.repeat(10), authors: [{ name: 'An author '.repeat(12) }],
    datePublished: '2001-12-31', reading: { status: 'abandoned', rating: 4.75 },
  });
  try {
    for (const [width, scheme] of [
      [320, 'light'], [390, 'dark'], [1280, 'light'], [1920, 'dark'],
    ] as const) {
      for (const [layout, text] of [
        ['', 'A title of some length'], ['?as=cards', 'A title of some length'],
        ['/statistics', 'books read, '],
      ] as const) {
        await browser.look(width, 800, scheme);
        await at.open(`#/books${layout}`);
        await at.person.sees(text);
        const { overflow, small, broken, pale } = await readLook(browser);
        assert.deepEqual({ overflow, small, broken, pale },
          { overflow: 0, small: [], broken: [], pale: [] }, `${width} ${layout}`);
      }
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
});

test('a book is rated, marked and shelved on its page, and each can be undone', { skip },
  async () => {
    const { person } = at;
    await at.call('POST', '/api/books', { title: 'Other', reading: { shelves: ['attic'] } });
    const { id } = await at.call('POST', '/api/books',
      { title: 'Quick', reading: { rating: 2.5, shelves: ['home'], review: 'Good.' } });
    const path = `/api/books/${String(id)}`;
    const readsAs = async (expected: object): Promise<void> => {
      assert.deepEqual((await at.call('GET', path))['reading'], expected);
    };
    const base = { review: 'Good.', shelves: ['home'] };
    await at.open(`#/books/${String(id)}`);
    await person.click('button', '4 stars');
    await person.find('image', '4 of 5 stars');
    await person.gives('return document.activeElement.name;', 'rating-4');
    await readsAs({ ...base, rating: 4 });
    await person.press('Enter');
    await person.gives("return document.querySelectorAll('[role=img]').length;", 0);
    await readsAs(base);
    await person.press('u');
    await person.find('image', '4 of 5 stars');
    await person.choose('Its status', 'Paused');
    await person.gives("return document.querySelector('.facts').innerText;", /^Paused$/m);
    // The field that has the focus gets the key, and nothing is undone.
    await person.gives('return document.activeElement.name;', 'status');
    await person.press('u');
    await readsAs({ ...base, rating: 4, status: 'paused' });
    await person.focus('combobox', 'Put it on a shelf');
    await person.gives(`return [...document.querySelectorAll('datalist option')]
      .map(({ value }) => value).sort();`, ['attic', 'home']);
    await person.fill('combobox', 'Put it on a shelf', 'attic');
    await person.press('Enter');
    await person.find('button', 'Take it off attic');
    await readsAs({ ...base, rating: 4, status: 'paused', shelves: ['home', 'attic'] });
    await person.click('button', 'Take it off home');
    await person.gives("return document.querySelectorAll('[aria-label$=home]').length;", 0);
    await readsAs({ ...base, rating: 4, status: 'paused', shelves: ['attic'] });
    // Each undo takes back its own change. A change of the same takes the place of the one before.
    await at.open(`#/books/${String(id)}`);
    await person.click('button', '2 stars');
    await person.sees('The rating of Quick: 2.');
    await person.click('button', 'Take it off attic');
    await person.sees('The shelves of Quick: none.');
    await person.click('button', '3 stars');
    await person.sees('The rating of Quick: 3.');
    await person.gives(
      "return [...document.querySelectorAll('.notice')].map((one) => one.innerText);",
      ['The shelves of Quick: none. Undo×', 'The rating of Quick: 3. Undo×']);
    await person.press('u');
    await person.sees('The rating of Quick: 2, as it was.');
    await person.press('u');
    await person.sees('The shelves of Quick: attic, as it was.');
    await person.click('button', '4 stars');
    await person.sees('The rating of Quick: 4.');
    await person.click('button', 'Close');
    await person.gives('return document.querySelectorAll(".notice").length;', 1);
    await readsAs({ ...base, rating: 4, status: 'paused', shelves: ['attic'] });
    await at.call('PATCH', path, { subtitle: 'theirs' });
    await person.click('button', '1 star');
    await person.sees('Somebody else has changed it.');
    await person.sees('theirs');
    await readsAs({ ...base, rating: 4, status: 'paused', shelves: ['attic'] });
    await at.isClean();
    await at.open(`#/books/${String(id)}`);
    await person.find('button', 'Take it off attic');
    await at.looksGood();
    await at.open(`#/books/${String(id)}`, 'read');
    await person.find('image', '4 of 5 stars');
    await person.gives("return document.querySelectorAll('.reading-controls').length;", 0);
  });
