/** What changes while it is looked at: records, connections, and what a record names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const FOCUSED = "return document.activeElement.getAttribute('href');";
/** Notes by what each stream can be ended, and how many the tab has asked for. */
const NOTE_STREAMS = `if (window.streams === undefined) {
  const send = window.fetch;
  window.streams = [];
  window.fetch = (path, options) => {
    if (path.includes('/api/stream')) {
      window.streams.push(options.signal);
      sessionStorage.streams = Number(sessionStorage.streams ?? 0) + 1;
    }
    return send(path, options);
  };
}`;
const ENDED = 'return streams.map(({ aborted }) => aborted);';
const at = new ConsoleAtWork();

/** A webhook whose requests are kept, at that path, and one of it; gives the request's id. */
async function keepAt(pathSegment: string, body: string): Promise<string> {
  await at.makeIncoming(pathSegment);
  return callAt(pathSegment, body);
}

async function callAt(pathSegment: string, raw: string): Promise<string> {
  const { status } = await ask(`${at.url}/webhook/in/${pathSegment}`,
    { method: 'POST', raw, headers: { 'content-type': 'application/json' } });
  assert.equal(status, 200);
  const kept = await at.call('GET', `/api/requests?hook=${pathSegment}&limit=1`);
  assert.ok(Array.isArray(kept));
  return String(kept[0].id);
}

/** As when another tab comes to the front, and this one again. */
function hide(isHidden: boolean): Promise<unknown> {
  return at.browser.evaluate(`Object.defineProperty(document, 'hidden',
    { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);
}

test('a page that is hidden gives its connection back, and misses nothing', { skip }, async () => {
  const { person, browser } = at;
  const id = await keepAt('hidden', '{}');
  await browser.command('Page.addScriptToEvaluateOnNewDocument', { source: NOTE_STREAMS });
  await at.open('#/requests?hook=hidden');
  await person.sees('1 request');
  await person.gives(ENDED, [false]);
  await hide(true);
  await person.gives(ENDED, [true]);
  await callAt('hidden', '{}');
  await at.call('DELETE', `/api/requests/${id}`);
  await callAt('hidden', '{}');
  await person.sees('1 request');
  await hide(false);
  await person.sees('2 requests');
  await person.gives(ENDED, [true, false]);
  await browser.evaluate("dispatchEvent(new Event('pagehide'));");
  await person.gives(ENDED, [true, true, false]);
  await callAt('hidden', '{}');
  await person.sees('3 requests');
  await at.isClean();
});

test('a page that is left asks for no stream again', { skip }, async () => {
  const { person, browser } = at;
  await keepAt('left', '{}');
  await browser.command('Page.addScriptToEvaluateOnNewDocument', { source: NOTE_STREAMS });
  const visit = async (): Promise<void> => {
    await at.open('#/requests?hook=left');
    await person.sees('1 request');
  };
  await visit();
  await browser.evaluate('sessionStorage.streams = 0;');
  for (let count = 0; count < 3; count += 1) await visit();
  await person.gives('return sessionStorage.streams;', '3');
});

test('a click counts, and the focus stays, while a record changes', { skip }, async () => {
  const { person, browser } = at;
  const id = await keepAt('pressed', '{}');
  const readings = `return performance.getEntriesByType('resource')
    .filter(({ name }) => name.endsWith('${id}')).length;`;
  const pin = (pinned: boolean): Promise<unknown> =>
    at.call('PATCH', `/api/requests/${id}`, { pinned });
  await at.open(`#/requests/${id}`);
  await person.find('button', 'Pin');
  await person.gives(readings, 1);
  await person.clickSlowly('button', 'Compare…', async () => {
    await pin(true);
    await person.gives(readings, 2);
  });
  await person.find('dialog', 'Compare with which request?');
  await person.sees('Unpin');
  await pin(false);
  await person.sees(/^Pin$/m);
  await person.press('Escape');
  await person.gives('return document.activeElement.localName;', 'h1');
  await person.focus('button', 'Delete');
  await pin(true);
  await person.find('button', 'Unpin');
  await person.gives('return document.activeElement.textContent;', 'Delete');
  await browser.evaluate("document.querySelector('h1').focus();");
  await pin(false);
  await person.find('button', 'Pin');
  await person.gives('return document.activeElement.localName;', 'h1');
  await at.isClean();
});

test('of controls that say the same the focused one stays so', { skip }, async () => {
  const { person, browser } = at;
  await at.open('#/');
  await person.sees('requests in each 5 minutes');
  await browser.evaluate("document.querySelectorAll('main dd a')[2].focus();");
  await person.gives(FOCUSED, '#/requests?status=failed');
  // Without the focus, as the clock does it.
  await browser.evaluate(`[...document.querySelectorAll('main button')]
    .find(({ textContent }) => textContent === '24 hours').click();`);
  await person.sees('requests in each 30 minutes');
  await person.gives(FOCUSED, '#/requests?status=failed');
});

test('a request is shown as it was sent, beside one that is gone too', { skip }, async () => {
  const { person } = at;
  const id = await keepAt('exact', '{"id":9007199254740995,"price":1.10}');
  const other = await callAt('exact', '{"id":9007199254740996,"price":1.10}');
  await at.open(`#/requests/${id}?with=${other}`);
  await person.sees(/body\.id\s+9007199254740995\s+9007199254740996/);
  await person.sees('"id": 9007199254740995,\n  "price": 1.10\n');
  await at.call('DELETE', `/api/requests/${other}`);
  await at.open(`#/requests/${id}?with=${other}`);
  await person.sees('It is compared with nothing: ');
  await person.sees(/Headers[^]*Body[^]*"price": 1\.10/);
});
