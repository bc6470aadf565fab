/** Several books changed at once in the console, and what was changed taken back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork, HOLD_REQUESTS, RELEASE } from './console-hooks.ts';
import { readLook } from './console-look.ts';

const skip = lacksBrowser;
const at = new ConsoleAtWork();
const TICKED = `return [...document.querySelectorAll('tbody input:checked')]
  .map((box) => box.getAttribute('aria-label'));`;

type Known = Readonly<Record<string, unknown>>;

/** Adds books with this keyword, by which a list shows them alone. Their ids, in order. */
async function makeBooks(keyword: string, books: readonly object[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [index, book] of books.entries()) {
    const { id } = await at.call('POST', '/api/books',
      { title: `${keyword} ${index + 1}`, keywords: [keyword], ...book });
    ids.push(String(id));
  }
  return ids;
}

async function readAll(ids: readonly string[]): Promise<readonly Known[]> {
  return Promise.all(ids.map((id) => at.call('GET', `/api/books/${id}`)));
}

/** Opens the dialog for all books of the list, and chooses what is done. */
async function changeAll(keyword: string, what: string): Promise<void> {
  const { person } = at;
  await at.open(`#/books?keyword=${keyword}&sort=id`);
  await person.click('checkbox', `Choose ${keyword} 1`);
  await person.sees('1 chosen');
  await person.click('checkbox', 'Choose all');
  // The boxes of the others are ticked when the list has said which they are.
  await person.sees(/([2-9]|\d{2,}) chosen/);
  await person.click('button', 'Change them…');
  await person.choose('What is done', what);
}

test('books are put on a shelf, those that stand there already stay, and undo takes it back', {
  skip,
}, async () => {
  const { person } = at;
  const ids = await makeBooks('lent', [
    {}, { reading: { shelves: ['LENT OUT', 'b'] } },
    { reading: { status: 'read', shelves: ['b'] } },
  ]);
  await changeAll('lent', 'Put them on');
  await person.fill('combobox', 'Shelf', 'Lent out');
  await person.press('Enter');
  await person.sees('Changed 2 books; 1 was so already.');
  assert.deepEqual((await readAll(ids)).map(({ reading }) => reading), [
    { shelves: ['Lent out'] }, { shelves: ['LENT OUT', 'b'] },
    { status: 'read', shelves: ['b', 'Lent out'] },
  ]);
  await person.click('button', 'Undo');
  await person.sees('2 books are as before.');
  assert.deepEqual((await readAll(ids)).map(({ reading }) => reading),
    [undefined, { shelves: ['LENT OUT', 'b'] }, { status: 'read', shelves: ['b'] }]);
  await at.isClean();
});

test('status, rating and keywords are set and taken away, with the events of the API', { skip },
  async () => {
    const { person } = at;
    const ids = await makeBooks('three', [{ reading: { review: 'Good.' } }, {}, {}]);
    for (const [what, role, name, value, expected] of [
      ['Set', 'status', 'Status', 'To', [{ review: 'Good.', status: 'to-read' },
        { status: 'to-read' }, { status: 'to-read' }]],
      ['Rate', 'status', 'Rating', '★★★¼', [{ review: 'Good.', status: 'to-read', rating: 3.25 },
        { status: 'to-read', rating: 3.25 }, { status: 'to-read', rating: 3.25 }]],
    ] as const) {
      await changeAll('three', what);
      // Nothing is taken away by choosing nothing.
      await person.click('button', 'Change 3 books');
      await person.choose(name, value);
      await person.click('button', 'Change 3 books');
      await person.sees('Changed 3 books.');
      assert.deepEqual((await readAll(ids)).map(({ reading }) => reading), expected, role);
    }
    await changeAll('three', 'Rate');
    await person.choose('Rating', 'none');
    await person.click('button', 'Change 3 books');
    await person.sees('Changed 3 books.');
    assert.deepEqual((await readAll(ids)).map(({ reading }) => Object(reading).rating),
      [undefined, undefined, undefined]);
    await changeAll('three', 'Add');
    await person.fill('combobox', 'Keyword', 'new');
    await person.click('button', 'Change 3 books');
    await person.sees('Changed 3 books.');
    await changeAll('three', 'Remove');
    await person.fill('combobox', 'Keyword', 'NEW');
    await person.click('button', 'Change 3 books');
    await person.sees('Changed 3 books.');
    assert.deepEqual((await readAll(ids)).map(({ keywords }) => keywords),
      [['three'], ['three'], ['three']]);
    await at.isClean();
  });

test('books whose deletions the server has let go of come back, which no event tells', {
  skip,
}, async () => {
  const { person } = at;
  const description = 'y'.repeat(9000);
  const ids = await makeBooks('much', Array.from({ length: 300 }, () => ({ description })));
  await changeAll('much', 'Delete');
  await person.click('button', 'Delete 300 books');
  await person.sees('Deleted 300 books.');
  await person.click('button', 'Undo');
  await person.sees('300 books are as before.');
  await person.sees(/let go of \d+ deletions: those books were imported, and no receiver/);
  assert.equal((await readAll(ids)).length, 300);
});

test('undo leaves what somebody has changed meanwhile', { skip }, async () => {
  const { person } = at;
  const [first = '', second = ''] = await makeBooks('meanwhile', [{}, {}]);
  await changeAll('meanwhile', 'Set');
  await person.choose('Status', 'Paused');
  await person.click('button', 'Change 2 books');
  await person.sees('Changed 2 books.');
  await at.call('PATCH', `/api/books/${first}`, { subtitle: 'theirs' });
  await person.press('u');
  await person.sees('1 book is as before; 1 could not be put back');
  assert.deepEqual((await readAll([first, second])).map(({ reading }) => reading),
    [{ status: 'paused' }, undefined]);
});

test('deleted books are named and counted first, and are put back as they were', { skip },
  async () => {
    const { person } = at;
    const ids = await makeBooks('gone', [{}, { isbn: '9780141439587' }, {}, {}]);
    const before = await readAll(ids);
    const { identifier } = await at.call('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'book.*' });
    await changeAll('gone', 'Delete');
    await person.sees('“gone 1”, “gone 2”, “gone 3” and 1 more will be gone from the catalog.');
    await person.click('button', 'Delete 4 books');
    await person.sees('Deleted 4 books.');
    await person.sees('No book matches.');
    await person.click('button', 'Undo');
    await person.sees('4 books are as before.');
    assert.deepEqual(await readAll(ids), before);
    await person.sees(/^4 books$/m);
    const events = Object.values(await at.call('GET', `/api/events?hook=${String(identifier)}`));
    const names = events.map((event) => (event as Known)['name']);
    for (const name of ['book.deleted', 'book.created']) {
      assert.equal(names.filter((one) => one === name).length, ids.length, name);
    }
    await at.call('DELETE', `/api/outgoing-webhooks/${String(identifier)}`);
    await at.isClean();
  });

test('who may only read chooses nothing, and a filter forgets what was chosen', { skip },
  async () => {
    const { person, browser } = at;
    await makeBooks('plain', [{}, {}]);
    await at.open('#/books?keyword=plain', 'read');
    await person.find('link', 'plain 1');
    assert.equal(await browser.evaluate(
      "return document.querySelectorAll('main input[type=checkbox]').length;"), 0);
    await at.open('#/books?keyword=plain');
    await person.click('checkbox', 'Choose plain 2');
    await person.sees('1 chosen');
    await person.fill('combobox', 'Search', 'plain');
    await person.sees('1 chosen', false);
    await person.focus('checkbox', 'Choose plain 2');
    await person.press(' ');
    await person.sees('1 chosen');
  });

test('what is chosen is chosen still when a book was looked at, and in another order', { skip },
  async () => {
    const { person } = at;
    await makeBooks('back', [{}, {}, {}]);
    await at.open('#/books?keyword=back');
    await person.click('checkbox', 'Choose back 1');
    await person.click('checkbox', 'Choose back 3');
    await person.sees('2 chosen');
    await person.click('link', 'back 2');
    await person.click('link', '← Books');
    await person.sees('2 chosen');
    await person.gives(TICKED, ['Choose back 3', 'Choose back 1']);
    await person.choose('Sort', 'oldest first');
    await person.gives(TICKED, ['Choose back 1', 'Choose back 3']);
    await person.click('button', 'Change them…');
    await person.choose('What is done', 'Rate');
    await person.choose('Rating', '★★★');
    await person.click('button', 'Change 2 books');
    await person.sees('Changed 2 books.');
    await person.gives(TICKED, []);
    await person.sees('2 chosen', false);
  });

test('more books are chosen and changed than a page of the list has', { skip }, async () => {
  const { person } = at;
  await makeBooks('many', Array.from({ length: 1001 }, () => ({})));
  await at.open('#/books?keyword=many');
  await person.click('checkbox', 'Choose all');
  await person.sees('1,001 chosen');
  await person.click('button', 'Change them…');
  await person.choose('What is done', 'Delete');
  await person.click('button', 'Delete 1,001 books');
  await person.sees('Deleted 1,001 books.');
  await person.press('u');
  await person.sees('1,001 books are as before.');
});

test('a change of many is seen on every screen, asks before the page goes, and can be stopped', {
  skip,
}, async () => {
  const { person, browser } = at;
  const ids = await makeBooks('long', Array.from({ length: 12 }, () => ({})));
  await changeAll('long', 'Set');
  await person.choose('Status', 'Paused');
  const isAsking = `return !window.dispatchEvent(
    new Event('beforeunload', { cancelable: true }));`;
  await person.gives(isAsking, false);
  await browser.evaluate(HOLD_REQUESTS);
  await person.click('button', 'Change 12 books');
  await person.sees('Changing books: 0 of 12 done.');
  await person.gives(isAsking, true);
  await person.click('link', 'Overview');
  await person.sees('Changing books: 0 of 12 done.');
  await browser.evaluate("window.dispatchEvent(new Event('pagehide'));");
  // The key undoes; it stops nothing.
  await person.press('u');
  await person.sees('Changing books: 0 of 12 done.');
  await person.click('button', 'Stop');
  await browser.evaluate(`setInterval(() => { ${RELEASE} }, 10);`);
  await person.sees('Changed 4 books; stopped before 8 more.');
  await person.sees('Changing books', false);
  await person.gives(isAsking, false);
  const paused = (await readAll(ids)).filter(({ reading }) => reading !== undefined);
  assert.equal(paused.length, 4);
  await person.click('button', 'Undo');
  await person.sees('4 books are as before.');
  assert.ok((await readAll(ids)).every(({ reading }) => reading === undefined));
  // What the page before has left behind is told once.
  await at.open('#/books');
  await person.sees('Changing books: 0 of 12 done. The page was left, which stopped it.');
  await at.open('#/books');
  await person.find('heading', 'Books');
  await person.sees('The page was left', false);
});

test('boxes that are to be ticked when the list has answered are not once the user has gone on', {
  skip,
}, async () => {
  const { person, browser } = at;
  await makeBooks('hasty', [{}, {}]);
  await at.open('#/books?keyword=hasty');
  await person.find('link', 'hasty 1');
  await browser.evaluate(HOLD_REQUESTS);
  await person.click('checkbox', 'Choose all');
  await person.gives('return held.length;', 1);
  await person.click('checkbox', 'Choose all');
  await browser.evaluate(RELEASE);
  await person.click('checkbox', 'Choose hasty 1');
  await person.sees('1 chosen');
  await person.gives(TICKED, ['Choose hasty 1']);
});

test('the boxes and the dialog fit each page, and can be read', { skip }, async () => {
  const { person, browser } = at;
  await makeBooks('wide', [{ title: 'A title of some length '.repeat(8) }]);
  try {
    for (const [width, scheme] of [
      [320, 'dark'], [390, 'light'], [1280, 'dark'], [1920, 'light'],
    ] as const) {
      await browser.look(width, 800, scheme);
      await at.open('#/books?keyword=wide');
      await person.click('checkbox', 'Choose all');
      await person.click('button', 'Change them…');
      for (const what of ['Rate', 'Delete']) {
        await person.choose('What is done', what);
        const { overflow, small, broken, pale } = await readLook(browser);
        assert.deepEqual({ overflow, small, broken, pale },
          { overflow: 0, small: [], broken: [], pale: [] }, `${width} ${what}`);
      }
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
});
