/** The events of the console, used as a person does, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aroundTests } from '../support/around-tests.ts';
import { Browser, hasBrowser, lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { startServer, type Running } from './processes.ts';

const skip = lacksBrowser;
const directory = createTemporaryFolder();
const browser = Browser.forTests();
const person = new Person(browser);
let server: Running;

aroundTests(async () => {
  if (!hasBrowser) return;
  server = await startServer(['--data', directory], { environment: {
    HOOKSHELF_EVENTS_KEEP: 'all', HOOKSHELF_OUTGOING_RETRY_SCHEDULE: '[3600]',
  } });
  await browser.look(1280, 900, 'light');
}, async () => {
  // There is none when it did not start.
  await server?.stop();
});

async function emit(body: object): Promise<void> {
  const { status } = await ask(`${server.url}/api/events`, { method: 'POST', body });
  assert.equal(status, 202);
}

test('one finds an event that nobody has heard, and sends it to a webhook', { skip }, async () => {
  await emit({ name: 'order.created', payload: { order: { id: 42 } }, key: 'k-42' });
  await browser.visitAnew(`${server.url}/console#/`);
  await person.click('link', 'Events');
  await person.sees(/order\.created/);
  // It comes while the list is open.
  await emit({ name: 'order.paid', payload: {} });
  await person.sees(/order\.paid/);
  await addRecord(`${server.url}/api/outgoing-webhooks`, {
    name: 'shop', targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'nothing',
  });
  await browser.visitAnew(`${server.url}/console#/events?name=order.created`);
  await person.click('link', /now|ago/);
  await person.sees(/No webhook has heard it/);
  await person.sees(/k-42/);
  await person.click('button', 'Send to…');
  await person.click('button', 'Send it');
  await person.sees(/It will be sent/);
  const deliveries = JSON.parse((await ask(`${server.url}/api/deliveries`)).text);
  assert.deepEqual(deliveries.map(({ event }: { event: string }) => event), ['order.created']);
});

test('one takes back an event that has not begun', { skip }, async () => {
  await emit({ name: 'order.due', payload: {}, delaySeconds: 3600 });
  await browser.visitAnew(`${server.url}/console#/events?name=order.due`);
  await person.click('link', /now|ago/);
  await person.sees(/Who hears it is decided when it begins/);
  await person.click('button', 'Cancel it');
  await person.click('button', 'Cancel it');
  await person.sees(/Cancelled/);
  const events = JSON.parse((await ask(`${server.url}/api/events?name=order.due`)).text);
  assert.deepEqual(events, []);
});
