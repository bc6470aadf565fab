/** The form of a book in the console: what it asks for, in which words, and what it saves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const LABELS = `return [...document.querySelectorAll('form.record label')]
  .filter((label) => label.checkVisibility()).map(({ textContent }) => textContent);`;
const LEGENDS = `return [...document.querySelectorAll('form.record legend')]
  .filter((legend) => legend.checkVisibility()).map(({ textContent }) => textContent);`;
const at = new ConsoleAtWork();

async function readBook(id: unknown): Promise<Readonly<Record<string, unknown>>> {
  return await at.call('GET', `/api/books/${String(id)}`);
}

test('a new book begins in its title, and asks in people\'s words', { skip }, async () => {
  const { person } = at;
  await at.open('#/books');
  await person.focus('link', 'Add a book');
  await person.press('Enter');
  await person.find('heading', 'A new book');
  await person.gives('return document.activeElement.name;', 'title');
  await person.gives(LABELS, ['Title *', 'Subtitle', 'Authors', 'ISBN', 'Publisher', 'Published',
    'Language', 'Pages', 'Format', 'Keywords', 'Status', 'Rating', 'Started', 'Finished',
    'Times read', 'Shelves', 'Review', 'Owned', 'Description']);
  await person.gives(LEGENDS, ['Series', 'Reading']);
  await person.sees(/absent|`/, false);
  await person.click('DisclosureTriangle', 'More');
  await person.gives(`${LABELS.slice(0, -1)}.slice(-3);`, ['Edition', 'Link', 'Cover']);
  await person.gives(LEGENDS, ['Series', 'Reading', 'Other data']);
  await at.isClean();
});

test('authors, keywords and shelves are typed one a line', { skip }, async () => {
  const { person } = at;
  await at.open('#/books/new');
  await person.fill('textbox', 'Title', 'Good Omens');
  await person.fill('textbox', 'Authors', 'Terry Pratchett\n\n Neil Gaiman \n');
  await person.fill('textbox', 'Keywords', 'humour\nangels');
  await person.fill('textbox', 'Shelves', 'lent');
  await person.choose('Status', 'Paused');
  await person.choose('Rating', '★★★★½');
  await person.click('DisclosureTriangle', 'More about the authors');
  await person.find('group', 'Neil Gaiman');
  await person.fill('textbox', 'City', 'Nowhere');
  await person.click('button', 'Add the book');
  await person.sees('Added Good Omens.');
  await person.find('image', '4.5 of 5 stars');
  const [id] = String(await at.browser.evaluate('return location.hash;')).split('/').slice(-1);
  const { authors, keywords, reading } = await readBook(id);
  assert.deepEqual(authors, [
    { name: 'Terry Pratchett', address: { addressLocality: 'Nowhere' } }, { name: 'Neil Gaiman' },
  ]);
  assert.deepEqual(keywords, ['humour', 'angels']);
  assert.deepEqual(reading, { status: 'paused', rating: 4.5, shelves: ['lent'] });
  await at.isClean();
});

test('texts of one\'s own are rows, and what an import keeps stays', { skip }, async () => {
  const { person } = at;
  const { id } = await at.call('POST', '/api/books', {
    title: 'Momo', metadata: { Standort: 'attic', source: { goodreads: { Owner: 'x' } }, Note: 2 },
  });
  await at.open(`#/books/${String(id)}/edit`);
  await person.click('DisclosureTriangle', 'More');
  await person.fill('textbox', 'Value', 'cellar');
  await person.click('button', 'Add to other data');
  await at.browser.evaluate(`const [value, name] = [...document.querySelectorAll(
    'form.record .comparison input')].reverse();
    name.value = 'Lent to';
    value.value = 'Ada';`);
  await person.click('button', 'Save');
  await person.sees('Saved.');
  assert.deepEqual((await readBook(id))['metadata'], {
    'Standort': 'cellar', 'Lent to': 'Ada', 'source': { goodreads: { Owner: 'x' } }, 'Note': 2,
  });
  await at.isClean();
});

test('an author who is renamed or moved keeps what is known of the author', { skip }, async () => {
  const { person } = at;
  const { id } = await at.call('POST', '/api/books', {
    title: 'Good Omens',
    authors: [{ name: 'T. Pratchett', birthDate: '1948' },
      { name: 'Neil Gaiman', url: 'https://a.test/' }],
  });
  for (const [lines, expected] of [
    ['Terry Pratchett\nNeil Gaiman',
      [{ name: 'Terry Pratchett', birthDate: '1948' },
        { name: 'Neil Gaiman', url: 'https://a.test/' }]],
    ['A third\nNeil Gaiman\nTerry Pratchett',
      [{ name: 'A third' }, { name: 'Neil Gaiman', url: 'https://a.test/' },
        { name: 'Terry Pratchett', birthDate: '1948' }]],
    ['Neil Gaiman', [{ name: 'Neil Gaiman', url: 'https://a.test/' }]],
  ] as const) {
    await at.open(`#/books/${String(id)}`);
    await person.click('link', 'Edit');
    await person.fill('textbox', 'Authors', lines);
    await person.click('button', 'Save');
    await person.sees('Saved.');
    assert.deepEqual((await readBook(id))['authors'], expected);
  }
});

test('what the API refuses of a line is told there', { skip }, async () => {
  const { person } = at;
  await at.open('#/books/new');
  await person.fill('textbox', 'Title', 'Emma');
  await person.fill('textbox', 'Authors', `Jane Austen\n${'x'.repeat(301)}`);
  await person.fill('textbox', 'Keywords', 'a\na');
  await person.click('DisclosureTriangle', 'More about the authors');
  await person.fill('textbox', /^Born/, 'soon');
  await person.click('button', 'Add the book');
  await person.sees(/x{301}: must be at most 300/);
  await person.sees(/^a: /m);
  await person.gives(`return [...document.querySelectorAll('[aria-invalid]')]
    .map(({ name }) => name);`, ['authors', 'birthDate', 'keywords']);
});

test('a book that the catalog has already is named while it is typed again', { skip }, async () => {
  const { person } = at;
  const { id } = await at.call('POST', '/api/books',
    { title: 'Mort', authors: [{ name: 'Terry Pratchett' }], isbn: '9780140712711' });
  await at.call('POST', '/api/books',
    { title: 'Mortal Engines', authors: [{ name: 'Philip Reeve' }] });
  await at.open('#/books/new');
  await person.fill('textbox', 'ISBN', '978-0-14-071271-1');
  await person.fill('textbox', 'Title', 'Something');
  await person.sees('You have this already: Mort');
  await person.fill('textbox', 'Title', 'Something else');
  await person.press('Tab');
  await person.gives(`return performance.getEntriesByType('resource')
    .filter(({ name }) => name.includes('isbn=978')).length;`, 1);
  await person.fill('textbox', 'ISBN', '12');
  await person.fill('textbox', 'Title', 'mort');
  await person.sees('You have this already', false);
  await person.fill('textbox', 'Authors', 'Philip Reeve');
  await person.fill('textbox', 'Title', 'mort');
  await person.sees('You have this already', false);
  await person.fill('textbox', 'Authors', 'Terry Pratchett');
  await person.press('Tab');
  await person.sees('You have this already: Mort');
  await person.click('link', 'Mort');
  await person.click('button', 'Leave');
  await person.gives('return location.hash;', `#/books/${String(id)}`);
  await at.isClean();
});

test('Ctrl+Enter saves a form from a field of several lines', { skip }, async () => {
  const { person, browser } = at;
  const { id } = await at.call('POST', '/api/books', { title: 'Emma' });
  await at.open(`#/books/${String(id)}`);
  await person.click('link', 'Edit');
  await person.fill('textbox', 'Review', 'Liked it.');
  await person.focus('textbox', 'Review');
  const ctrl = 2;
  await browser.command('Input.dispatchKeyEvent',
    { type: 'keyDown', key: 'Enter', windowsVirtualKeyCode: 13, modifiers: ctrl });
  await person.sees('Saved.');
  assert.deepEqual((await readBook(id))['reading'], { review: 'Liked it.' });
  await at.isClean();
});
