/** What changes while a screen of the console opens, before it is told of changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aroundTests } from '../support/around-tests.ts';
import { hasBrowser, lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
/** Holds the page's stream back until `openStream` is called, as a slow way to the server may. */
const HOLD_STREAM = `const send = window.fetch;
window.fetch = async (url, options) => {
  if (String(url).includes('/api/stream')) {
    await new Promise((open) => { window.openStream = open; });
  }
  return send(url, options);
};`;
const at = new ConsoleAtWork();

aroundTests(async () => {
  if (!hasBrowser) return;
  await at.browser.command('Page.addScriptToEvaluateOnNewDocument', { source: HOLD_STREAM });
});

async function openStream(): Promise<void> {
  await at.person.gives('return typeof window.openStream;', 'function');
  await at.browser.evaluate('window.openStream();');
}

/** A webhook whose deliveries wait after their first attempt. */
async function makeHook(triggerEvent: string): Promise<void> {
  await at.make('/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:9/', triggerEvent, retrySchedule: [3600],
  });
}

/** The id of a new delivery, for which nobody listens. */
async function makeDelivery(event: string): Promise<string> {
  await at.call('POST', '/api/events', { name: event, payload: {} });
  const found = Object.values(await at.call('GET', `/api/deliveries?event=${event}&order=newest`));
  const [first] = found;
  assert.ok(typeof first === 'object' && first !== null && 'identifier' in first);
  return String(first.identifier);
}

test('what happens to a record before the stream of its screen is open is seen', { skip },
  async () => {
    const { person } = at;
    await makeHook('one');
    const id = await makeDelivery('one');
    await at.open(`#/deliveries/${id}`);
    await person.sees('failing');
    await at.call('POST', `/api/deliveries/${id}/cancel`);
    await openStream();
    await person.sees('cancelled');
    await at.isClean();
  });

test('what comes into a list before its stream is open is seen', { skip }, async () => {
  const { person } = at;
  await makeHook('many');
  await makeDelivery('many');
  await at.open('#/deliveries?event=many');
  await person.sees(/^1 delivery$/m);
  await makeDelivery('many');
  await openStream();
  await person.sees(/^2 deliveries$/m);
  await at.isClean();
});

test('a row stays what it was while others change, so that a click on it is not lost', { skip },
  async () => {
    const { person, browser } = at;
    await makeHook('clicked');
    const first = await makeDelivery('clicked');
    await makeDelivery('clicked');
    await at.open('#/deliveries?event=clicked');
    await openStream();
    await person.sees(/failing\s+nothing listens there [^]*failing\s+nothing listens there /);
    await browser.evaluate('window.pressed = document.querySelector("tr[data-key]");');
    await at.call('POST', `/api/deliveries/${first}/cancel`);
    await person.sees(/cancelled\s+nothing listens there \(ECONNREFUSED\)/);
    await makeDelivery('clicked');
    await person.gives('return document.querySelector("table.rows").ariaRowCount;', '4');
    await person.gives('return [pressed.isConnected, pressed.ariaRowIndex];', [true, '3']);
  });

/** Holds the answer to a call of that path back until `answer` is called. */
const holdAnswer = (path: string): string => `const send = window.fetch;
window.fetch = async (url, options) => {
  const response = await send(url, options);
  if (!String(url).endsWith('${path}')) return response;
  await new Promise((answer) => { window.answer = answer; });
  setTimeout(() => { window.isShown = true; }, 200);
  return response;
};`;

test('an answer that comes late does not take the place of the next screen', { skip }, async () => {
  const { person, browser } = at;
  const { id } = await at.call('POST', '/api/books', { title: 'Late answer' });
  await at.open('#/books');
  await person.find('heading', 'Books');
  await browser.evaluate(holdAnswer(String(id)));
  await browser.evaluate(`location.hash = '#/books/${String(id)}';`);
  await person.gives('return typeof window.answer;', 'function');
  await browser.evaluate("location.hash = '#/outgoing';");
  await person.find('heading', 'Outgoing webhooks');
  await browser.evaluate('window.answer();');
  await person.gives('return window.isShown;', true);
  await person.find('heading', 'Outgoing webhooks');
  await at.isClean();
});
