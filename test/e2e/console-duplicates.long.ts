/** Duplicates in the console: listed in groups, compared by member, merged and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { readLook } from './console-look.ts';
import { ConsoleAtWork, HOLD_REQUESTS, RELEASE } from './console-hooks.ts';

const skip = lacksBrowser;
const HASH = 'return location.hash;';
const FOCUSED = 'return document.activeElement.tagName;';
/** The members that differ, with both values. */
const DIFFERENCES = `return [...document.querySelectorAll('tbody tr')]
  .filter((row) => row.querySelector('.badge') !== null)
  .map((row) => [row.querySelector('th span').firstChild.data,
    ...[...row.querySelectorAll('td')].map(({ innerText }) => innerText)].join(' | '));`;
/** What a merge asks for, and what is chosen. */
const CHOICES = `return [...document.querySelectorAll('dialog tbody tr')]
  .map((row) => [row.querySelector('th').innerText, ...[...row.querySelectorAll('td')]
    .map((cell) => cell.querySelector('select')?.value ?? cell.innerText)].join(' | '));`;
const at = new ConsoleAtWork();

function makeBook(book: Readonly<Record<string, unknown>>): Promise<string> {
  return at.make('/api/books', book);
}

/** How often the book is there. */
async function count(title: string): Promise<number> {
  const books = Object.values(await at.call('GET', '/api/books'));
  return books.filter((book) => Object(book).title === title).length;
}

test('duplicates are found from the list of books, compared, and one of them is deleted', { skip },
  async () => {
    const { person } = at;
    const first = await makeBook({
      title: 'Emma', authors: [{ name: 'Jane Austen' }], isbn: '9780141439587',
      keywords: ['novel'], publisher: 'Penguin',
    });
    const second = await makeBook({
      title: 'EMMA', authors: [{ name: 'Jane Austen', birthDate: '1775' }], isbn: '9780141439587',
      keywords: ['novel', 'classic'],
    });
    await at.open('#/books');
    await person.focus('link', 'Duplicates');
    await person.press('Enter');
    await person.sees(/^1 group$/m);
    await person.focus('link', 'Emma');
    await person.press('Enter');
    await person.find('heading', 'Compare duplicates');
    await person.gives(HASH, `#/books/duplicates/${first}/${second}?by=isbn`);
    await person.find('heading', '4 members differ');
    await person.gives(DIFFERENCES, ['Title | Emma | EMMA', 'Publisher | Penguin | –',
      'Keywords | novel | novel, classic', 'Authors 1, born | – | 1775']);
    await person.focus('button', 'Delete the second book');
    await person.press('Enter');
    await person.sees('“EMMA” will be gone');
    await person.click('button', 'Keep things as they are');
    await person.find('button', 'Delete the second book');
    assert.equal(await count('EMMA'), 1);
    await person.click('button', 'Delete the second book');
    await person.click('button', 'Delete it');
    await person.sees('No two books have the same ISBN.');
    await person.sees('Deleted EMMA.');
    await person.gives(HASH, '#/books/duplicates?by=isbn');
    assert.deepEqual([await count('Emma'), await count('EMMA')], [1, 0]);
    await at.browser.evaluate('history.back();');
    await person.sees('there is nothing to compare');
    await at.isClean();
  });

test('books of the same title are compared two by two, until one is left', { skip }, async () => {
  const { person } = at;
  const ids: string[] = [];
  for (const numberOfPages of [1, 2, 3]) {
    ids.push(await makeBook({ title: 'Walden', authors: [{ name: 'Thoreau' }], numberOfPages }));
  }
  await at.open('#/books/duplicates');
  await person.choose('The same', 'title');
  await person.gives(HASH, '#/books/duplicates?by=title');
  await person.click('link', 'Walden');
  await person.gives(DIFFERENCES, ['Pages | 1 | 2']);
  await person.choose('Compare as the second book', '3');
  await person.gives(DIFFERENCES, ['Pages | 1 | 3']);
  await person.choose('Compare as the first book', '2');
  await person.gives(DIFFERENCES, ['Pages | 2 | 3']);
  await person.gives('return document.activeElement.name;', 'first');
  const hash = String(await at.browser.evaluate(HASH));
  await at.open(hash);
  await person.gives(DIFFERENCES, ['Pages | 2 | 3']);
  await person.click('button', 'Delete the first book');
  await person.click('button', 'Delete it');
  await person.gives(DIFFERENCES, ['Pages | 1 | 3']);
  await person.gives(HASH, `#/books/duplicates/${ids[0]}/${ids[2]}?by=title`);
  await person.click('link', '← Duplicates');
  await person.find('link', 'Walden');
  await person.gives("return document.querySelector('[name=by]').value;", 'title');
  await at.isClean();
});

test('a duplicate that somebody has changed is shown before it is deleted, and read alone deletes '
  + 'nothing', { skip }, async () => {
  const { person } = at;
  const first = await makeBook({ title: 'Persuasion' });
  const second = await makeBook({ title: 'Persuasion' });
  const hash = `#/books/duplicates/${first}/${second}?by=title`;
  await at.open(hash);
  await person.find('heading', 'They are the same');
  await at.call('PUT', `/api/books/${second}`, { title: 'Persuasion', subtitle: 'theirs' });
  await person.click('button', 'Delete the second book');
  await person.click('button', 'Delete it');
  await person.sees('Somebody else has changed it.');
  await person.gives(FOCUSED, 'H1');
  await person.gives(DIFFERENCES, ['Subtitle | – | theirs']);
  assert.equal(await count('Persuasion'), 2);
  await at.open(hash, 'read');
  await person.find('heading', '1 member differs');
  assert.ok(!(await person.everything()).some(({ name }) => /^(Delete|Merge)/.test(name)));
});

test('one of two duplicates is merged into the other, with the members that are chosen', { skip },
  async () => {
    const { person } = at;
    const first = await makeBook({
      title: 'Middlemarch', authors: [{ name: 'George Eliot' }], publisher: 'Blackwood',
      keywords: ['novel'], reading: { rating: 3 },
    });
    const second = await makeBook({
      title: 'middlemarch', authors: [{ name: 'George Eliot' }], isbn: '9780141439549',
      keywords: ['Novel', 'classic'], reading: { rating: 4.5, startedOn: '2024' },
    });
    await at.open(`#/books/duplicates/${first}/${second}?by=title`);
    await person.focus('button', 'Merge into the first book');
    await person.press('Enter');
    await person.sees('“middlemarch” will be gone');
    await person.gives(CHOICES, [
      'Title | Middlemarch | middlemarch | own', 'Publisher | Blackwood | – | own',
      'Keywords | novel | Novel, classic | both',
      'Reading, rating | ★★★ | ★★★★½ | own', 'ISBN | – | 9780141439549 | other',
      'Reading, started | – | 2024 | other', 'Other data | – | – | both']);
    await person.choose('Reading, rating to be kept', 'The other');
    await person.press('Escape');
    await person.gives("return document.querySelector('dialog') === null;", true);
    assert.equal(await count('middlemarch'), 1);

    await person.click('button', 'Merge into the first book');
    await person.choose('Reading, rating to be kept', 'The other');
    await person.click('button', 'Merge them');
    await person.sees('Merged two books into Middlemarch.');
    await person.gives(HASH, '#/books/duplicates?by=title');
    const book = await at.call('GET', `/api/books/${first}`);
    const { title, publisher, isbn, keywords, reading, mergedIds, metadata } = book;
    assert.deepEqual({ title, publisher, isbn, keywords, reading, mergedIds, metadata }, {
      title: 'Middlemarch', publisher: 'Blackwood', isbn: '9780141439549',
      keywords: ['novel', 'classic'],
      reading: { rating: 4.5, startedOn: '2024' }, mergedIds: [second],
      metadata: { source: {
        [second]: { members: { title: 'middlemarch' } }, here: { members: { 'reading.rating': 3 } },
      } },
    });
    assert.equal(await count('middlemarch'), 0);

    await person.click('button', 'Undo');
    await person.sees('middlemarch is back.');
    await person.gives(HASH, `#/books/duplicates/${first}/${second}`);
    await person.find('heading', '6 members differ');
    const restored = await at.call('GET', `/api/books/${first}`);
    assert.deepEqual([restored['reading'], restored['mergedIds']], [{ rating: 3 }, undefined]);
    await at.isClean();
  });

test('what cannot be merged stays as it is, with the choices, and what is newer is shown', { skip },
  async () => {
    const { person } = at;
    const first = await makeBook({ title: 'Romola', reading: { startedOn: '2024' } });
    const second = await makeBook({ title: 'Romola', reading: { finishedOn: '2023' } });
    await at.open(`#/books/duplicates/${first}/${second}?by=title`);
    await person.click('button', 'Merge into the second book');
    await person.choose('Reading, started to be kept', 'The other');
    await person.click('button', 'Merge them');
    await person.sees(/Reading, finished: must not be before/);
    await person.find('button', 'Merge them');
    await at.call('PATCH', `/api/books/${first}`, { subtitle: 'newer' });
    await person.choose('Reading, started to be kept', 'Its');
    await person.click('button', 'Merge them');
    await person.sees('Somebody else has changed one of them');
    await person.gives(DIFFERENCES, ['Subtitle | newer | –', 'Reading, started | 2024 | –',
      'Reading, finished | – | 2023']);
    assert.equal(await count('Romola'), 2);
  });

test('while one of the two is deleted, the other cannot be', { skip }, async () => {
  const { person, browser } = at;
  const ids = [await makeBook({ title: 'Shirley' }), await makeBook({ title: 'Shirley' })];
  await at.open(`#/books/duplicates/${ids.join('/')}?by=title`);
  await person.click('button', 'Delete the first book');
  await person.find('button', 'Delete it');
  await browser.evaluate(HOLD_REQUESTS);
  await person.click('button', 'Delete it');
  await person.gives("return held.filter(({ path }) => path.includes('books')).length;", 1);
  await browser.evaluate("document.querySelectorAll('main button.danger')[1].click();");
  await person.gives("return document.querySelector('dialog') === null;", true);
  await browser.evaluate(RELEASE);
  await person.sees('Deleted Shirley.');
  assert.equal(await count('Shirley'), 1);
  await at.isClean();
});

test('groups by a key that was left again are not shown', { skip }, async () => {
  const { person, browser } = at;
  for (const title of ['Villette', 'Villette']) await makeBook({ title });
  await at.open('#/books/duplicates');
  await person.find('combobox', 'The same');
  await browser.evaluate(HOLD_REQUESTS);
  const choose = (by: string): Promise<unknown> => browser.evaluate(`
    const field = document.querySelector('[name=by]');
    field.value = '${by}';
    field.dispatchEvent(new Event('change'));`);
  await choose('title');
  await choose('');
  await person.gives("return held.filter(({ path }) => path.includes('duplicates')).length;", 2);
  // The answer to what was chosen last comes first.
  await browser.evaluate('held.pop()();');
  await person.sees('Loading…', false);
  await browser.evaluate(`${RELEASE} return new Promise((after) => setTimeout(after, 300));`);
  await person.gives(HASH, '#/books/duplicates');
  assert.doesNotMatch(await person.text(), /Villette/);
  await at.isClean();
});

test('groups and their comparison fit a narrow page', { skip }, async (t) => {
  const { person, browser } = at;
  t.after(() => browser.look(1280, 900, 'light'));
  await browser.look(320, 700, 'light');
  const long = { title: 'w'.repeat(300), authors: [{ name: 'z'.repeat(200) }] };
  const first = await makeBook({ ...long, description: 'x'.repeat(500) });
  const second = await makeBook({ ...long, metadata: { [`k${'k'.repeat(99)}`]: 'v'.repeat(99) } });
  const third = await makeBook(long);
  for (const hash of ['#/books/duplicates?by=title',
    `#/books/duplicates/${first}/${second}/${third}?by=title`]) {
    await at.open(hash);
    await person.sees(/wwwwww/);
    const { overflow, small, broken, pale } = await readLook(browser);
    assert.deepEqual([overflow, small, broken, pale], [0, [], [], []], hash);
  }
  await person.click('button', 'Merge into the first book');
  await person.find('button', 'Merge them');
  const { overflow, small, broken, pale } = await readLook(browser);
  assert.deepEqual([overflow, small, broken, pale], [0, [], [], []]);
  await at.isClean();
});
