/** What forms ask for in ways of their own, and files to take away, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const at = new ConsoleAtWork();

test('headers are rows of a name and a value, and hidden values stay', { skip }, async () => {
  const { person } = at;
  const id = await at.make('/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:9/', headers: { 'X-Kept': 'one', 'X-Gone': 'two' },
  });
  await at.open(`#/outgoing/${id}`);
  await person.click('link', 'Edit');
  await person.click('DisclosureTriangle', 'More');
  await at.browser.evaluate(`[...document.querySelectorAll('.row')].find((row) =>
    row.querySelector('input').value === 'X-Gone').querySelector('button').click();`);
  await person.click('button', 'Add to headers');
  await at.browser.evaluate(`const [name, value] =
    [...document.querySelectorAll('.row')].at(-1).querySelectorAll('input');
    name.value = 'X-Kept'; value.value = 'twice';`);
  await person.click('button', 'Save');
  await person.sees('X-Kept stands twice.');
  await at.browser.evaluate(`const [name] =
    [...document.querySelectorAll('.row')].at(-1).querySelectorAll('input');
    name.value = 'Bad name';`);
  await person.click('button', 'Save');
  await person.sees('Some fields cannot be saved as they are.');
  await person.sees('Bad name');
  await at.browser.evaluate(`const [name] =
    [...document.querySelectorAll('.row')].at(-1).querySelectorAll('input');
    name.value = 'X-New';`);
  await person.click('button', 'Save');
  await person.sees('Saved.');
  const { headers } = await at.call('GET', `/api/outgoing-webhooks/${id}`);
  assert.deepEqual(headers, { 'X-Kept': '***', 'X-New': '***' });
  await at.isClean();
});

test('what tells duplicates is chosen, and routes are tried before they are saved', {
  skip,
}, async () => {
  const { person } = at;
  const log = await at.make('/api/action-configurations', { actionType: 'log', options: {} });
  const id = await at.make('/api/incoming-webhooks', {
    pathSegment: 'tried', inbox: 'all', actionConfiguration: log,
  });
  const { status } = await ask(`${at.url}/webhook/in/tried`, { method: 'POST', body: { n: 1 } });
  assert.equal(status, 200);
  await at.open(`#/incoming/${id}`);
  await person.click('link', 'Edit');
  await person.click('DisclosureTriangle', 'More');
  await person.choose('Tell duplicates by', 'The id in the body');
  await person.fill('textbox', 'Path of the member, such as event.id', 'event.id');
  await person.click('button', 'Save');
  await person.sees('Saved.');
  const read = (): ReturnType<ConsoleAtWork['call']> =>
    at.call('GET', `/api/incoming-webhooks/${id}`);
  assert.deepEqual((await read())['deduplicate'], { json: 'event.id' });
  await person.click('link', 'Action and routes');
  await person.click('button', 'Add route');
  await person.fill('textbox', /^Name/, 'sometimes');
  await person.click('button', 'Add a condition');
  await person.fill('textbox', 'What is looked at', 'payload.n');
  await person.fill('textbox', /^With what/, '2');
  await person.click('button', 'Try it');
  await person.sees('left out');
  await person.fill('textbox', /^With what/, '1');
  await person.click('button', 'Try it');
  await person.sees('would run');
  assert.equal((await read())['routes'], undefined);
  await at.isClean();
});

test('filters and facets are folded, rare ones on a wide page too, but for fields that are set', {
  skip,
}, async () => {
  const { person, browser } = at;
  const isThere = async (label: string): Promise<boolean> =>
    (await person.everything()).some(({ name }) => name === label);
  await browser.look(360, 740, 'light');
  await at.make('/api/books', { title: 'Emma' });
  await at.open('#/books');
  await person.find('combobox', 'Sort');
  assert.deepEqual([await isThere('Language'), await isThere('Authors')], [false, false]);
  await person.click('button', 'More filters');
  await person.find('searchbox', 'Language');
  await person.find('DisclosureTriangle', 'Authors');
  await person.click('button', 'Fewer filters');
  await person.find('button', 'More filters');
  assert.deepEqual([await isThere('Language'), await isThere('Authors')], [false, false]);
  await at.open('#/books?publishedTo=1900');
  await person.find('searchbox', 'Published to');
  assert.equal(await isThere('Language'), false);
  // It stands below the form, and can be taken away there.
  await at.open('#/books?inLanguage=en');
  await person.find('button', 'Remove Language: en');
  assert.equal(await isThere('Language'), false);
  await browser.look(1280, 900, 'light');
  await at.open('#/books');
  await person.find('searchbox', 'Language');
  await person.find('DisclosureTriangle', 'Authors');
  assert.equal(await isThere('Shelf'), false);
  await person.click('button', 'More filters');
  await person.gives('return document.activeElement.name;', 'publishedFrom');
});

test('what is saved unchanged stays as it was, and so does what stands beside a change', {
  skip,
}, async () => {
  const { person } = at;
  const hook = {
    targetUrl: 'http://127.0.0.1:9/', headers: {}, triggerEvents: [], retrySchedule: [],
    payloadTemplate: '{\r\n}', when: { any: [{ path: 'payload.a', op: 'prefix', value: 'x\ny' }] },
  };
  const book = {
    title: 'a\nb', authors: [{ name: 'c', givenName: '' }], keywords: [], description: '',
  };
  const hookId = await at.make('/api/outgoing-webhooks', hook);
  const bookId = String((await at.call('POST', '/api/books', book))['id']);
  const bare = await at.make('/api/outgoing-webhooks', { targetUrl: 'http://127.0.0.1:9/' });
  const paths: readonly string[] =
    [`outgoing-webhooks/${hookId}`, `books/${bookId}`, `outgoing-webhooks/${bare}`];
  for (const path of paths) {
    const { updatedAt: _, ...before } = await at.call('GET', `/api/${path}`);
    await at.open(`#/${path.replace('-webhooks', '')}`);
    await person.click('link', 'Edit');
    await person.click('button', 'Save');
    await person.sees('Saved.');
    const { updatedAt: __, ...after } = await at.call('GET', `/api/${path}`);
    assert.deepEqual(after, before);
  }
  await at.open(`#/outgoing/${hookId}`);
  await person.click('link', 'Edit');
  await person.click('button', 'Add a condition');
  await at.browser.evaluate("document.activeElement.value = 'event';");
  await person.click('button', 'Save');
  await person.sees('begins with "x\\ny" or event is');
  assert.deepEqual((await at.call('GET', `/api/outgoing-webhooks/${hookId}`))['when'],
    { any: [...hook.when.any, { path: 'event', op: 'eq', value: '' }] });
  await at.open(`#/books/${bookId}`);
  await person.click('link', 'Edit');
  await person.gives("return document.querySelector('[name=title]')?.value;", 'a\nb');
  await person.fill('textbox', 'Authors', '');
  await person.click('button', 'Save');
  await person.sees('Saved.');
  const { title, authors, keywords } = await at.call('GET', `/api/books/${bookId}`);
  assert.deepEqual([title, authors, keywords], [book.title, [], []]);
  await at.isClean();
});

test('a webhook has the waits of the settings, its own, or no second attempt', {
  skip,
}, async () => {
  const { person } = at;
  const id = await at.make('/api/outgoing-webhooks', { targetUrl: 'http://127.0.0.1:9/' });
  const saved = async (): Promise<unknown> => {
    await person.click('button', 'Save');
    await person.sees('Saved.');
    return (await at.call('GET', `/api/outgoing-webhooks/${id}`))['retrySchedule'];
  };
  const edit = async (): Promise<void> => {
    await at.open(`#/outgoing/${id}`);
    await person.click('link', 'Edit');
    await person.click('DisclosureTriangle', 'More');
  };
  await edit();
  await person.sees('no second attempt', false);
  await person.click('checkbox', 'Retry as the settings say');
  await person.sees('no second attempt');
  assert.deepEqual(await saved(), []);
  await edit();
  await person.click('button', 'Add wait');
  await person.fill('spinbutton', /^Wait 1/, '60');
  assert.deepEqual(await saved(), [60]);
  await edit();
  await person.click('checkbox', 'Retry as the settings say');
  assert.equal(await saved(), undefined);
  await at.isClean();
});

test('a number typed wrong is told at its field, and nothing is saved', { skip }, async () => {
  const { person } = at;
  const { id } = await at.call('POST', '/api/books', { title: 'Emma', numberOfPages: 320 });
  await at.open(`#/books/${String(id)}`);
  await person.click('link', 'Edit');
  await person.fill('spinbutton', 'Pages', '3e-');
  await person.click('button', 'Save');
  await person.sees('Pages: this is no number.');
  await person.gives(
    'return [...document.querySelectorAll("[aria-invalid]")].map(({ name }) => name);',
    ['numberOfPages']);
  await person.gives('return document.activeElement.name;', 'numberOfPages');
  assert.equal((await at.call('GET', `/api/books/${String(id)}`))['numberOfPages'], 320);
  await person.fill('spinbutton', 'Pages', '321');
  await person.gives("return document.querySelectorAll('[aria-invalid]').length;", 0);
  await person.click('button', 'Save');
  await person.sees('Saved.');
  assert.equal((await at.call('GET', `/api/books/${String(id)}`))['numberOfPages'], 321);
  await at.isClean();
});

test('an item of a list goes, whatever is wrong with it', { skip }, async () => {
  const { person } = at;
  const id = await at.make('/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'none', retrySchedule: [1, 2, 3] });
  await at.open(`#/outgoing/${id}`);
  await person.click('link', 'Edit');
  await person.click('DisclosureTriangle', 'More');
  await person.fill('spinbutton', 'Wait 2', '3e-');
  await person.press('Tab');
  await person.sees('Wait 2: this is no number.');
  await person.gives("return document.querySelectorAll('[aria-invalid]').length;", 1);
  await person.click('button', 'Remove Wait 2');
  await person.sees('Wait 3', false);
  await person.click('button', 'Save');
  await person.sees('Saved.');
  assert.deepEqual((await at.call('GET', `/api/outgoing-webhooks/${id}`))['retrySchedule'], [1, 3]);
});
