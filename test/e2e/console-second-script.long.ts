/** The second script of the console in a real browser: where it runs, and what keeps it away. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { openHookshelf, serveHandler } from '../support/embedded.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
/** The console's own files that the page has fetched: their paths, and whether they were sent. */
const FETCHED_FILES = `return performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/console/'))
  .map(({ name, transferSize, encodedBodySize }) =>
    [new URL(name).pathname, transferSize > encodedBodySize]);`;
/** Changes the second script on its way to the page until `letThrough` is called. */
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

test('below a prefix it is fetched at its first screen, once, and is not sent again', { skip },
  async (context) => {
    const shelf = await openHookshelf(context);
    const { url } = await serveHandler(context, belowShelf(shelf.handler));
    await browser.visitAnew(`${url}/shelf/console#/requests`);
    await person.find('heading', 'Requests');
    assert.deepEqual(await browser.evaluate(FETCHED_FILES), []);
    for (const screen of ['Books', 'Incoming webhooks', 'Outgoing webhooks', 'Settings']) {
      await person.click('link', screen.split(' ')[0] ?? '');
      await person.find('heading', screen);
    }
    const path = await browser.evaluate(
      "return '/shelf/console/' + document.documentElement.dataset.secondScript;");
    assert.deepEqual(await browser.evaluate(FETCHED_FILES), [[path, true]]);
    await browser.visitAnew(`${url}/shelf/console#/books`);
    await person.find('heading', 'Books');
    assert.deepEqual(await browser.evaluate(FETCHED_FILES), [[path, false]]);
    const complaints = (await browser.complaints()).filter((text) => text.includes('error'));
    assert.deepEqual(complaints, []);
  });

test('the browser runs it as the server has it, or not at all', { skip }, () =>
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

test('a screen of it opens when a server that was away is back', { skip }, () =>
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
      await browser.evaluate("document.documentElement.dataset.secondScript = 'other.js';");
      await person.click('link', 'Books');
      await person.sees('the page is of another release than the server: load it anew');
    } finally {
      await server.stop();
    }
  }));
