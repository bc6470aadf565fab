/** Fetched scripts of the console in a real browser: where they run, and what keeps them away. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { openHookshelf, serveHandler } from '../support/embedded.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
/** The scripts that the page has fetched: name, and whether the server sent the text. */
const FETCHED_SCRIPTS = `return performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/shelf/console/'))
  .map(({ name, transferSize, encodedBodySize }) =>
    [name.split('/').pop().split('-')[0], transferSize > encodedBodySize]);`;
/** Changes fetched scripts on their way to the page until `letThrough` is called. */
const CHANGE_SCRIPT = `const send = window.fetch;
  window.fetch = async (url, options) => {
    const response = await send(url, options);
    return String(url).startsWith('/console/')
      ? new Response(await response.text() + ';window.isChanged=true', response) : response;
  };
  window.letThrough = () => { window.fetch = send; };`;

const browser = Browser.forTests();
const person = new Person(browser);

/** Calls the handler as a router does that serves it below `/shelf`. */
function belowShelf(handler: RequestListener): RequestListener {
  return (request, response) => {
    const { url = '' } = request;
    const rest = url.slice('/shelf'.length);
    Object.assign(request, { baseUrl: '/shelf', originalUrl: url, url: rest });
    handler(request, response);
  };
}

test('below a prefix each is fetched at its first screen, once, and is not sent again', { skip },
  async (context) => {
    const shelf = await openHookshelf(context);
    const { url } = await serveHandler(context, belowShelf(shelf.handler));
    await browser.visitAnew(`${url}/shelf/console#/requests`);
    await person.find('heading', 'Requests');
    assert.deepEqual(await browser.evaluate(FETCHED_SCRIPTS), []);
    const fetched: [string, boolean][] = [];
    for (const [screen, names] of [
      ['Books', ['common', 'books']], ['Incoming webhooks', ['webhooks']],
      ['Outgoing webhooks', []], ['Settings', ['server']],
    ] as const) {
      await person.click('link', screen.split(' ')[0] ?? '');
      await person.find('heading', screen);
      fetched.push(...names.map((name): [string, boolean] => [name, true]));
      assert.deepEqual(await browser.evaluate(FETCHED_SCRIPTS), fetched, screen);
    }
    await browser.visitAnew(`${url}/shelf/console#/books`);
    await person.find('heading', 'Books');
    assert.deepEqual(await browser.evaluate(FETCHED_SCRIPTS),
      [['common', false], ['books', false]]);
    const complaints = (await browser.complaints()).filter((text) => text.includes('error'));
    assert.deepEqual(complaints, []);
  });

test('the browser runs them as the server has them, or not at all', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    try {
      await browser.visitAnew(`${server.url}/console#/requests`);
      await person.find('heading', 'Requests');
      await browser.evaluate(CHANGE_SCRIPT);
      await person.click('link', 'Books');
      await person.sees('The browser has refused a part of this page');
      assert.equal(await browser.evaluate('return window.isChanged ?? null;'), null);
      await browser.evaluate('window.letThrough();');
      await person.click('button', 'Try again');
      await person.find('heading', 'Books');
    } finally {
      await server.stop();
    }
  }));

test('a screen of a script opens when a server that was away is back', { skip }, () =>
  inFolder(async (data) => {
    const first = await startServer(['--data', data]);
    await browser.visitAnew(`${first.url}/console#/requests`);
    await person.find('heading', 'Requests');
    await first.stop();
    await person.click('link', 'Books');
    await person.sees('the server cannot be reached');
    const second = await startServer(['--data', data, '--port', new URL(first.url).port]);
    try {
      await person.find('heading', 'Books');
    } finally {
      await second.stop();
    }
  }));

test('a page of another release is told to be loaded anew', { skip }, () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    try {
      await browser.visitAnew(`${server.url}/console#/requests`);
      await person.find('heading', 'Requests');
      await browser.evaluate("document.documentElement.dataset.scripts = 'books-0.js';");
      await person.click('link', 'Books');
      await person.sees('the page is of another release than the server: load it anew');
    } finally {
      await server.stop();
    }
  }));
