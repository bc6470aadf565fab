/** Who may see what in the console: signing in, tokens by scope, keys, a server that is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { makeToken } from '../support/make-token.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { HOLD_REQUESTS, RELEASE } from './console-hooks.ts';
import { openScreen } from './console-look.ts';
import { hookshelf, startServer } from './processes.ts';

const skip = lacksBrowser;

const browser = Browser.forTests();
const IS_SIGN_OUT_SEEN = `return [...document.querySelectorAll('header button')]
  .some((button) => button.textContent === 'Sign out' && button.checkVisibility());`;

async function namesOf(person: Person, role: string): Promise<string[]> {
  return (await person.everything()).filter((one) => one.role === role).map(({ name }) => name);
}

test('a token shows what its scope may do, and what is typed outlives it', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      const [read, write, admin] = [await makeToken(data, 'read'), await makeToken(data, 'write'),
        await makeToken(data, 'admin')];
      const signIn = async (token: string): Promise<void> => {
        await person.fill('textbox', 'API token', token);
        await person.press('Enter');
      };
      await browser.visit(`${server.url}/console#/books`);
      // There is nothing behind it yet to close it for.
      for (let pressed = 0; pressed < 4; pressed += 1) {
        await person.find('textbox', 'API token');
        await person.press('Escape');
      }
      await person.gives(IS_SIGN_OUT_SEEN, false);
      await signIn('wrong');
      await person.sees('This token is not known');
      await browser.evaluate(HOLD_REQUESTS);
      await signIn(read.token);
      await person.press('Escape');
      await person.gives(`${RELEASE} return document.querySelector('main h1')?.textContent;`,
        'Books');
      await person.find('heading', 'Books');
      const links = await namesOf(person, 'link');
      const hidden = ['Add a book', 'Log', 'Settings'];
      assert.deepEqual(hidden.filter((name) => links.includes(name)), []);
      await browser.visit(`${server.url}/console#/log`);
      await person.find('heading', 'Not here');
      await person.click('button', 'Sign out');
      await signIn(write.token);
      await browser.visit(`${server.url}/console#/books`);
      await person.click('link', 'Add a book');
      await person.fill('textbox', 'Title', 'Typed before');
      await hookshelf(['token:revoke', '--identifier', write.identifier, '--data', data]);
      await person.click('button', 'Add the book');
      await person.find('textbox', 'API token');
      await person.gives(IS_SIGN_OUT_SEEN, true);
      await signIn(admin.token);
      await person.sees('What you typed is still here');
      await person.find('link', 'Settings');
      await person.click('button', 'Add the book');
      await person.find('heading', 'Typed before');
    } finally {
      await server.stop();
    }
  }));

test('whoever makes the first token is told that it closes the API', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const person = new Person(browser);
    try {
      await openScreen(browser, server.url, '#/settings');
      await person.sees('The first one closes the API, and this page, to all who have none');
      await person.sees('hookshelf token:create --name console --scope admin');
    } finally {
      await server.stop();
    }
  }));

test('what is typed into a dialog outlives the token', { skip }, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const person = new Person(browser);
  try {
    const [first, second] = [await makeToken(data, 'write'), await makeToken(data, 'write')];
    await browser.visit(`${server.url}/console#/events`);
    await person.fill('textbox', 'API token', first.token);
    await person.press('Enter');
    await person.click('button', 'Emit an event…');
    await person.fill('textbox', 'Name', 'typed.before');
    await hookshelf(['token:revoke', '--identifier', first.identifier, '--data', data]);
    await person.click('button', 'Emit it');
    // A whole link that somebody pastes is as good as its token.
    await person.fill('textbox', 'API token', `${server.url}/console#token=${second.token}`);
    await person.press('Enter');
    await person.sees('What you typed is still here');
    await person.click('button', 'Emit it');
    await person.sees('No webhook has heard it');
  } finally {
    await server.stop();
  }
}));

test('the keyboard alone is enough', { skip }, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const person = new Person(browser);
  const focus = 'return document.activeElement.innerText || document.activeElement.name || "";';
  const focused = async (): Promise<string> => String(await browser.evaluate(focus));
  const tabTo = async (wanted: string): Promise<void> => {
    for (let tabs = 0; tabs < 60 && await focused() !== wanted; tabs += 1) {
      await person.press('Tab');
    }
    await person.gives(focus, wanted);
    // It can be seen.
    await person.gives(`const one = document.activeElement;
      return getComputedStyle(one).outlineStyle + getComputedStyle(one, '::after').outlineStyle;`,
    /solid/);
  };
  try {
    for (const title of ['Emma', 'Persuasion']) {
      await ask(`${server.url}/api/books`, { method: 'POST', body: { title } });
    }
    await openScreen(browser, server.url, '#/');
    await person.press('Tab');
    await person.gives(focus, 'Skip to content');
    await person.press('Enter');
    await person.gives('return document.activeElement.id;', 'main');
    await person.press('?');
    await person.find('dialog', 'Keys');
    await person.press('Escape');
    await person.sees('these keys', false);
    for (const key of ['g', 'b']) await person.press(key);
    await person.find('heading', 'Books');
    // The new screen is told of.
    await person.gives(focus, 'Books');
    await person.sees('2 books');
    await person.press('/');
    await person.gives(focus, 'q');
    for (const key of 'emma') await person.press(key);
    await person.sees('1 book');
    await person.gives('return location.hash;', /q=emma/);
    await person.find('link', 'Emma');
    await tabTo('Emma');
    await person.press('Enter');
    await person.find('heading', 'Emma');
    await tabTo('Edit');
    await browser.evaluate('history.back();');
    await person.sees('1 book');
    await person.gives('return document.querySelector("[name=q]")?.value;', 'emma');
  } finally {
    await server.stop();
  }
}));

test('a server that is lost is told of, and found again', { skip }, () =>
  inFolder(async (data) => {
    const first = await startServer(['--data', data]);
    const person = new Person(browser);
    await openScreen(browser, first.url, '#/books/new');
    await person.fill('textbox', 'Title', 'Typed while it was gone');
    await first.stop();
    await person.click('button', 'Add the book');
    await person.sees('The connection to the server is lost');
    const second = await startServer(['--data', data, '--port', new URL(first.url).port]);
    try {
      await person.sees('The connection to the server is lost', false);
      await person.click('button', 'Add the book');
      await person.find('heading', 'Typed while it was gone');
    } finally {
      await second.stop();
    }
  }));
