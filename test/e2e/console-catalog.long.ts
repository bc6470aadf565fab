/** The list of books in the console: sorted by its heads, filtered by facets, and searched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { readLook } from './console-look.ts';
import { ConsoleAtWork, HOLD_REQUESTS, RELEASE } from './console-hooks.ts';

const skip = lacksBrowser;
const HASH = 'return location.hash;';
const FOCUSED = 'return document.activeElement.innerText || document.activeElement.ariaLabel;';
/** The heads by which the list is sorted, and how. */
const SORTED = `return [...document.querySelectorAll('[aria-sort]')]
  .map((head) => head.innerText.trim() + ' ' + head.ariaSort);`;
const TITLES =
  "return [...document.querySelectorAll('.row-link')].map(({ innerText }) => innerText);";
const CHIPS = "return [...document.querySelectorAll('.chip')].map(({ ariaLabel }) => ariaLabel);";
/** The values of the facet with that title, and which of them are chosen. */
const valuesOf = (title: string): string => `
  const facet = [...document.querySelectorAll('.facet')]
    .find((one) => one.querySelector('summary').innerText === '${title}');
  return [...facet?.querySelectorAll('button') ?? []].map((button) =>
    (button.ariaPressed === 'true' ? '*' : '') + button.innerText.replace(/\\s+/g, ' '));`;
const OPTIONS = `return [...document.querySelectorAll('[role=option]')].map((option) =>
  (option.ariaSelected === 'true' ? '*' : '') + option.innerText);`;
const at = new ConsoleAtWork();

type TestBook = Readonly<Record<string, unknown>> & { readonly keywords?: readonly string[] };

/** Every book is found by the keyword, which no other test has. */
async function makeBooks(keyword: string, books: readonly TestBook[]): Promise<string> {
  // The newest stands first.
  for (const { keywords = [], ...book } of books.toReversed()) {
    await at.make('/api/books', { ...book, keywords: [keyword, ...keywords] });
  }
  return `keyword=${keyword}`;
}

async function reload(): Promise<void> {
  await at.open(String(await at.browser.evaluate(HASH)));
}

test('heads of columns sort the list by mouse and keys, and the address keeps it', { skip },
  async () => {
    const { person, browser } = at;
    const query = await makeBooks('sorted', [
      { title: 'Beta', authors: [{ name: 'Ann Zola' }], datePublished: '1900' },
      { title: 'Alpha', authors: [{ name: 'Bob Young' }], datePublished: '2000' },
      { title: 'Gamma', authors: [{ name: 'Cy Adams' }] },
    ]);
    await at.open(`#/books?${query}`);
    await person.gives(TITLES, ['Beta', 'Alpha', 'Gamma']);
    await person.gives(SORTED, []);
    await person.click('button', 'Title');
    await person.gives(TITLES, ['Alpha', 'Beta', 'Gamma']);
    await person.gives(SORTED, ['Title ascending']);
    await person.click('button', 'Title');
    await person.gives(TITLES, ['Gamma', 'Beta', 'Alpha']);
    await person.gives(SORTED, ['Title descending']);
    await person.focus('button', 'Authors');
    await person.press('Enter');
    await person.gives(TITLES, ['Gamma', 'Alpha', 'Beta']);
    await person.focus('button', 'Published');
    await person.press(' ');
    await person.gives(TITLES, ['Beta', 'Alpha', 'Gamma']);
    await person.press(' ');
    await person.gives(TITLES, ['Alpha', 'Beta', 'Gamma']);
    await person.gives(FOCUSED, 'Published');
    await person.gives(HASH, `#/books?${query}&sort=-datePublished`);
    await reload();
    await person.gives(SORTED, ['Published descending']);
    await person.click('link', 'Beta');
    await person.find('heading', 'Beta');
    await browser.evaluate('history.back();');
    await person.gives(TITLES, ['Alpha', 'Beta', 'Gamma']);
    await person.gives(SORTED, ['Published descending']);
    // A choice is a step of its own, which leads back to the list without it.
    await person.click('button', 'Title');
    await person.gives(SORTED, ['Title ascending']);
    await browser.evaluate('history.back();');
    await person.gives(HASH, `#/books?${query}&sort=-datePublished`);
    await person.gives(SORTED, ['Published descending']);
    await person.choose('Sort', 'changed first');
    await person.gives(SORTED, ['Changed ascending']);
    await person.gives(TITLES, ['Gamma', 'Alpha', 'Beta']);
    await at.isClean();
  });

test('a list with several sort keys is sorted by another column, or by the first one reversed',
  { skip }, async () => {
    const { person } = at;
    const query = await makeBooks('keys', [{ title: 'One' }, { title: 'Two' }]);
    await at.open(`#/books?${query}&sort=title,-datePublished`);
    await person.gives(SORTED, ['Title ascending']);
    await person.click('button', 'Title');
    await person.gives(HASH, `#/books?${query}&sort=-title`);
    await at.isClean();
  });

test('values of facets filter by keyboard, any of several will do, and chips take them away',
  { skip }, async () => {
    const { person, browser } = at;
    const query = await makeBooks('faceted', [
      { title: 'A', authors: [{ name: 'Ann' }], inLanguage: 'en', datePublished: '1961-05' },
      { title: 'B', authors: [{ name: 'Ann' }], inLanguage: 'de', datePublished: '1969',
        bookFormat: 'EBook' },
      { title: 'C', authors: [{ name: 'Bob' }], inLanguage: 'fr', datePublished: '1970',
        publisher: 'Faber' },
    ]);
    await at.open(`#/books?${query}`);
    await person.sees('3 books');
    await browser.evaluate("document.querySelectorAll('.facet > summary')[2].focus();");
    await person.press('Enter');
    await person.gives(valuesOf('Languages'), ['de 1', 'en 1', 'fr 1']);
    await person.press('Tab');
    await person.press('Enter');
    await person.gives(TITLES, ['B']);
    await person.gives(valuesOf('Languages'), ['*de 1', 'en 1', 'fr 1']);
    await person.gives(FOCUSED, /^de/);
    await person.press('Tab');
    await person.press(' ');
    await person.gives(TITLES, ['A', 'B']);
    await browser.evaluate("document.querySelectorAll('.facet > summary')[4].click();");
    await person.gives(valuesOf('Decades'), ['1960s 2']);
    await person.click('button', /^fr/);
    await person.gives(valuesOf('Decades'), ['1960s 2', '1970s 1']);
    await person.click('button', /^1960s/);
    await person.gives(TITLES, ['A', 'B']);
    await person.gives(valuesOf('Decades'), ['*1960s 2', '1970s 1']);
    await person.gives(HASH, `#/books?${query}&inLanguage=de&inLanguage=en&inLanguage=fr`
      + '&publishedFrom=1960&publishedTo=1969');
    await reload();
    await person.gives(TITLES, ['A', 'B']);
    await person.gives(CHIPS, ['Remove Keyword: faceted', 'Remove Language: de',
      'Remove Language: en', 'Remove Language: fr', 'Remove Decade: 1960s']);
    await person.focus('button', 'Remove Language: de');
    await person.press('Enter');
    await person.gives(TITLES, ['A']);
    await person.gives(FOCUSED, /^Language: en/);
    await person.focus('button', 'Remove Decade: 1960s');
    await person.press('Enter');
    await person.gives(TITLES, ['A', 'C']);
    await person.gives(FOCUSED, /^Language: fr/);
    for (const language of ['fr', 'en']) {
      await person.click('button', `Remove Language: ${language}`);
    }
    await person.gives(HASH, `#/books?${query}`);
    await at.isClean();
  });

test('facets count what is listed, by keyword, publisher and format too, and a value ends it',
  { skip }, async () => {
    const { person, browser } = at;
    const query = await makeBooks('shelved', [
      { title: 'A', publisher: 'Faber', bookFormat: 'EBook', keywords: ['Crime'] },
      { title: 'B', publisher: 'Penguin', bookFormat: 'Hardcover', keywords: ['crime', 'poetry'] },
    ]);
    await at.open(`#/books?${query}`);
    await person.sees('2 books');
    await browser.evaluate(
      "document.querySelectorAll('.facet > summary').forEach((one) => one.click());");
    await person.gives(valuesOf('Formats'), ['E-book 1', 'Hardcover 1']);
    // A facet ignores its own filter: those of all other tests are there, too.
    await person.gives(valuesOf('Keywords'), /crime 2.*\*shelved 2.*poetry 1/is);
    await person.click('button', /^Faber/);
    await person.gives(TITLES, ['A']);
    await person.gives(valuesOf('Formats'), ['E-book 1']);
    await person.gives(valuesOf('Publishers'), ['*Faber 1', 'Penguin 1']);
    await person.click('button', /^E-book/);
    await person.gives(HASH, `#/books?${query}&publisher=Faber&bookFormat=EBook`);
    await person.click('button', /^Faber/);
    await person.click('button', /^E-book/);
    await person.gives(TITLES, ['A', 'B']);
    await person.sees('None of these books has one.');
    await at.isClean();
  });

test('what is typed into a filter counts at once, and stays beside the next at Enter', { skip },
  async () => {
    const { person } = at;
    const query = await makeBooks('typed', [
      { title: 'A', authors: [{ name: 'Ann Lee' }] }, { title: 'B', authors: [{ name: 'Bo Fox' }] },
      { title: 'C', authors: [{ name: 'Cy Ray' }] },
    ]);
    await at.open(`#/books?${query}`);
    await person.fill('searchbox', 'Author', 'lee');
    await person.gives(TITLES, ['A']);
    await person.press('Enter');
    await person.gives(CHIPS, ['Remove Author: lee', 'Remove Keyword: typed']);
    await person.fill('searchbox', 'Author', 'fox');
    await person.gives(TITLES, ['A', 'B']);
    await person.gives(HASH, `#/books?author=lee&author=fox&${query}`);
    await at.isClean();
  });

test('suggestions come while one types, and are chosen by the arrows and Enter', { skip },
  async () => {
    const { person } = at;
    await makeBooks('suggested', [
      { title: 'Xylophone music', authors: [{ name: 'Xyla Moor' }] },
      { title: 'Xylophone lessons', keywords: ['xylophone'] },
    ]);
    await at.open('#/books');
    await person.fill('combobox', 'Search', 'xyl');
    await person.find('option', 'Xyla Moor author, 1 book');
    const options = ['Xyla Moor author, 1 book', 'Xylophone lessons title, 1 book',
      'Xylophone music title, 1 book', 'xylophone keyword, 1 book'];
    await person.gives(OPTIONS, options);
    await person.press('ArrowDown');
    await person.press('ArrowDown');
    await person.gives(OPTIONS, options.with(1, `*${options[1]}`));
    await person.gives(`const field = document.activeElement;
      return [field.ariaExpanded, document.getElementById(
        field.getAttribute('aria-activedescendant'))?.innerText];`, ['true', options[1]]);
    await person.press('ArrowUp');
    await person.press('ArrowUp');
    await person.press('ArrowUp');
    await person.gives(OPTIONS, options.with(3, `*${options[3]}`));
    await person.press('Enter');
    await person.gives(OPTIONS, []);
    await person.gives(HASH, '#/books?q=xylophone');
    await person.gives(TITLES, ['Xylophone music', 'Xylophone lessons']);
    await person.fill('combobox', 'Search', 'xylophone m');
    await person.click('option', /^Xylophone music/);
    await person.gives(HASH, '#/books?q=Xylophone+music');
    await person.gives(TITLES, ['Xylophone music']);
    await at.isClean();
  });

test('Escape, Tab and an empty field close the suggestions, and late ones stay away', { skip },
  async () => {
    const { person, browser } = at;
    await makeBooks('escaped', [{ title: 'Quokka' }]);
    await at.open('#/books');
    for (const [close, text] of [
      [() => person.press('Escape'), 'quok'], [() => person.press('Tab'), 'quok'],
      [() => person.fill('combobox', 'Search', ''), ''],
    ] as const) {
      await person.fill('combobox', 'Search', 'quok');
      await person.find('option', /^Quokka/);
      await close();
      await person.gives(OPTIONS, []);
      await person.gives("return document.querySelector('[name=q]').value;", text);
    }
    await browser.evaluate(HOLD_REQUESTS);
    await person.fill('combobox', 'Search', 'quokk');
    await person.gives("return held.some(({ path }) => path.includes('suggest'));", true);
    await person.press('Escape');
    // With no suggestions to close, Escape has emptied the field: another list is on its way.
    await person.gives(`${RELEASE} return document.querySelector('[aria-busy]') === null;`, true);
    await person.gives(OPTIONS, []);
    await at.isClean();
  });

test('a corrected search says so, counts what it shows, and leads back to what was typed',
  { skip }, async () => {
    const { person, browser } = at;
    await makeBooks('mistyped', [{ title: 'Zanzibar' }, { title: 'A map of Zanzibar' }]);
    // The first search makes the index that knows the words.
    await at.call('GET', '/api/books?q=zanzibar');
    await at.open('#/books?q=Zanzibra');
    await person.sees('Showing results for zanzibar – search instead for Zanzibra');
    await person.sees('2 books');
    await browser.evaluate("document.querySelector('.facet:nth-child(2) summary').click();");
    await person.gives(valuesOf('Keywords'), ['mistyped 2']);
    await person.focus('button', 'search instead for Zanzibra');
    await person.press('Enter');
    await person.sees('No book matches.');
    await person.sees('Searched for Zanzibra as it is – correct typing mistakes');
    await person.gives(HASH, '#/books?q=Zanzibra&typos=off');
    await person.gives('return document.activeElement.name;', 'q');
    await person.click('button', 'correct typing mistakes');
    await person.sees('2 books');
    await person.gives(HASH, '#/books?q=Zanzibra');
    await person.click('button', 'search instead for Zanzibra');
    await person.sees('No book matches.');
    await person.fill('combobox', 'Search', 'mapp');
    await person.gives(HASH, '#/books?q=mapp');
    await person.sees('Searched for', false);
    await at.isClean();
  });

test('all of it fits a narrow page', { skip }, async (t) => {
  const { person, browser } = at;
  t.after(() => browser.look(1280, 900, 'light'));
  await browser.look(320, 700, 'light');
  await makeBooks('narrow', [
    { title: 'Wombats', authors: [{ name: 'An author with a name of many words '.repeat(5) }] },
  ]);
  await at.open('#/books?q=wombast&keyword=narrow');
  await person.sees('Showing results for');
  await person.click('button', 'More filters');
  await browser.evaluate(
    "document.querySelectorAll('.facet > summary').forEach((one) => one.click());");
  await person.find('button', /^An author/);
  await person.fill('combobox', 'Search', 'wom');
  await person.find('option', /^Wombats/);
  const { overflow, small, broken, pale } = await readLook(browser);
  assert.deepEqual([overflow, small, broken, pale], [0, [], [], []]);
  await person.choose('Sort', 'author, A');
  await person.gives(HASH, /sort=author/);
  await at.isClean();
});
