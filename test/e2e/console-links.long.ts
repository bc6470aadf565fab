/** What leads from a delivery and a line of the log to what they name in the console, and back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
/** As a server that has the delivery, but its event no more. */
const LOSE_EVENT = `const send = window.fetch;
  window.fetch = (url, options) => options.method === 'HEAD'
    ? Promise.resolve(new Response(null, { status: 404 })) : send(url, options);`;
const HASH = 'return location.hash;';
const at = new ConsoleAtWork();

test('deliveries are chosen by their kind, and one of a route leads to its request and back', {
  skip,
}, async () => {
  const { person } = at;
  const log = await at.make('/api/action-configurations', { actionType: 'log' });
  const forward = await at.make('/api/action-configurations', {
    actionType: 'http-forward', options: { url: 'http://127.0.0.1:9/', mode: 'queue' },
  });
  await at.make('/api/incoming-webhooks', {
    pathSegment: 'kinds', inbox: 'all', answer: 'accepted',
    routes: [
      { name: 'note', actionConfiguration: log }, { name: 'pass-on', actionConfiguration: forward },
    ],
  });
  const { status } = await ask(`${at.url}/webhook/in/kinds`, { method: 'POST', body: { a: 1 } });
  assert.equal(status, 200);
  await at.open('#/deliveries');
  await person.sees(/^1 delivery$/m);
  await person.gives("return document.querySelector('td[data-title=Kind]')?.innerText;", 'forward');
  await person.find('button', 'Send many again…');
  await person.choose('Kind', 'route');
  await person.sees('2 deliveries');
  await person.sees(/kinds\s+route note/);
  await person.click('button', 'Send many again…');
  await person.sees('choose no “Kind” first');
  await person.choose('Kind', 'all');
  await person.sees('3 deliveries');
  await person.choose('Webhook', 'kinds');
  await person.sees('2 deliveries');
  await person.click('link', /now|ago/);
  await person.find('heading', 'A request');
  await person.sees(/done in/);
  const names = (await person.everything()).map(({ name }) => name);
  assert.deepEqual(names.filter((name) => /^(Send|Try|Cancel)/.test(name)), []);
  await person.focus('link', 'To its request');
  await person.press('Enter');
  await person.find('heading', 'POST /webhook/in/kinds');
  await person.focus('link', 'The delivery of route note');
  await person.press('Enter');
  await person.find('heading', 'A request');
  await person.gives("return location.hash.endsWith('.0');", true);
  await at.isClean();
});

test('a delivery leads to its event, as long as that is kept', { skip }, async () => {
  const { person, browser } = at;
  await at.make('/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'order.linked', retrySchedule: [3600],
  });
  const { event } = await at.call('POST', '/api/events',
    { name: 'order.linked', payload: { order: 77 } });
  await at.open('#/deliveries?event=order.linked');
  await person.click('link', /now|ago/);
  await person.find('heading', 'order.linked');
  await person.focus('link', String(event));
  await person.press('Enter');
  await person.sees(/"order": 77/);
  await browser.evaluate(`${LOSE_EVENT} history.back();`);
  await person.sees(`${event} is not kept any more`);
});

test('a line of the log leads to the delivery and the webhook that it names', { skip },
  async () => {
    const { person } = at;
    const hook = await at.make('/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'line.made', retrySchedule: [3600],
    });
    const { deliveries } = await at.call('POST', '/api/events', { name: 'line.made' });
    const delivery = String(deliveries);
    await at.open('#/log');
    await person.sees('a delivery was attempted');
    await person.click('link', hook);
    await person.gives(HASH, `#/outgoing/${hook}`);
    await at.open('#/log');
    await person.click('link', delivery);
    await person.gives(HASH, `#/deliveries/${delivery}`);
    await person.find('heading', 'line.made');
  });
