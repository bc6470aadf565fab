/** Work in the console that is not saved, or was taken back, is not lost without a question. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const HASH = 'return location.hash;';
const TITLE = "return document.querySelector('[name=title]').value;";
const DIALOGS = "return document.querySelectorAll('dialog').length;";
const QUESTION = 'Leave without saving?';
const at = new ConsoleAtWork();

test('who leaves a form with changes is asked, and may stay', { skip }, async () => {
  const { person, browser } = at;
  await at.open('#/books');
  await person.click('link', 'Add a book');
  await person.fill('textbox', 'Title', 'Emma');
  await browser.evaluate("document.querySelector('h1').focus();");
  for (const leave of [
    () => person.click('link', 'Events'),
    async () => {
      await person.press('g');
      await person.press('r');
    },
    () => browser.evaluate('history.back();'),
  ]) {
    await leave();
    await person.find('dialog', QUESTION);
    await person.gives(HASH, '#/books/new');
    await person.press('Escape');
    await person.gives(DIALOGS, 0);
    assert.equal(await browser.evaluate(TITLE), 'Emma');
  }
  await person.click('link', 'Log');
  await person.click('button', 'Leave');
  await person.gives(HASH, '#/log');
  await person.find('heading', 'Log');
  await at.isClean();
});

test('the way back from a form leads where it began', { skip }, async () => {
  const { person, browser } = at;
  await at.open('#/books');
  await person.click('link', 'Add a book');
  await person.fill('textbox', 'Title', 'Emma');
  await browser.evaluate('history.back();');
  await person.click('button', 'Leave');
  await person.gives(HASH, '#/books');
  await person.find('heading', 'Books');
});

test('a form without changes, or one that is saved, is left without a question', { skip },
  async () => {
    const { person } = at;
    await at.open('#/books/new');
    await person.fill('textbox', 'Title', 'Emma');
    await person.fill('textbox', 'Title', '');
    await person.click('link', 'Events');
    await person.find('heading', 'Events');
    await at.open('#/books/new');
    await person.fill('textbox', 'Title', 'Emma');
    await person.click('button', 'Add the book');
    await person.sees('Added Emma.');
    await person.gives(HASH, /^#\/books\/[0-9a-f-]+$/);
    await person.click('button', 'Edit');
    await person.fill('textbox', 'Title', 'Emma, again');
    await person.click('button', 'Save');
    await person.sees('Saved.');
    await person.click('link', 'Events');
    await person.find('heading', 'Events');
    await person.gives(DIALOGS, 0);
  });

test('the steps of a new webhook are one form', { skip }, async () => {
  const { person } = at;
  await at.open('#/incoming/new');
  await person.fill('textbox', 'Path', 'left-soon');
  await person.click('button', 'Next: what is done');
  await person.click('link', 'Events');
  await person.find('dialog', QUESTION);
  await person.click('button', 'Stay here');
  await person.choose('Action', 'Write');
  await person.click('button', 'Create it, then test it');
  await person.sees('left-soon is there.');
  await person.click('link', 'Done');
  await person.gives(DIALOGS, 0);
});

test('the browser asks before it closes a page with changes', { skip }, async () => {
  const { person, browser } = at;
  await at.open('#/books/new');
  await person.find('textbox', 'Title');
  const before = browser.questions;
  await at.open('#/books/new');
  assert.equal(browser.questions, before);
  await person.fill('textbox', 'Title', 'Emma');
  await at.open('#/books/new');
  assert.equal(browser.questions, before + 1);
});
