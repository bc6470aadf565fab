/** What changes while a screen of the console opens, before it is told of changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hasBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = !hasBrowser && 'chromium and chromedriver are needed';
/** Holds the page's stream back until `openStream` is called, as a slow way to the server may. */
const HOLD_STREAM = `const send = window.fetch;
window.fetch = async (url, options) => {
  if (String(url).includes('/api/stream')) {
    await new Promise((open) => { window.openStream = open; });
  }
  return send(url, options);
};`;
const OPEN_STREAM = 'window.openStream();';
let at: ConsoleAtWork;

before(async () => {
  if (!hasBrowser) return;
  at = await ConsoleAtWork.begin();
  await at.browser.command('Page.addScriptToEvaluateOnNewDocument', { source: HOLD_STREAM });
});

after(async () => {
  if (hasBrowser) await at.end();
});

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
    const { person, browser } = at;
    await at.make('/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'one', retrySchedule: [3600],
    });
    const id = await makeDelivery('one');
    await at.open(`#/deliveries/${id}`);
    await person.sees('pending');
    await at.call('POST', `/api/deliveries/${id}/cancel`);
    await browser.evaluate(OPEN_STREAM);
    await person.sees('cancelled');
    await at.isClean();
  });

test('what comes into a list before its stream is open is seen', { skip }, async () => {
  const { person, browser } = at;
  await at.make('/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'many', retrySchedule: [3600],
  });
  await makeDelivery('many');
  await at.open('#/deliveries?event=many');
  await person.sees(/^1 delivery$/m);
  await makeDelivery('many');
  await browser.evaluate(OPEN_STREAM);
  await person.sees(/^2 deliveries$/m);
  await at.isClean();
});
