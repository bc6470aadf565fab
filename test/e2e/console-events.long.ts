/** The events of the console, used as a person does, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aroundTests } from '../support/around-tests.ts';
import { Browser, hasBrowser, lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { openScreen, readLook } from './console-look.ts';
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

async function listEvents(name: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return JSON.parse((await ask(`${server.url}/api/events?name=${name}`)).text);
}

/** Opens the dialog by the keyboard, and fills its fields. */
async function fillEvent(fields: Readonly<Record<string, string>>): Promise<void> {
  await person.focus('button', 'Emit an event…');
  await person.press('Enter');
  await person.find('dialog', 'Emit an event');
  await person.gives('return document.activeElement.name;', 'name');
  for (const [name, text] of Object.entries(fields)) await person.fill('textbox', name, text);
}

test('one emits an event by hand, and reads what has come of it', { skip }, async () => {
  const hook = await addRecord(`${server.url}/api/outgoing-webhooks`, {
    targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'hand.heard',
  });
  await browser.visitAnew(`${server.url}/console#/events?name=hand.*`);
  // Digits that a number of JavaScript does not hold.
  await fillEvent({ Name: 'hand.heard', Payload: '{"id":12345678901234567890}', Key: 'k-1' });
  await person.focus('button', 'Emit it');
  await person.press('Enter');
  await person.sees('It is kept, with 1 delivery.');
  const [event] = await listEvents('hand.heard');
  assert.equal(event?.['key'], 'k-1');
  const payload = await ask(`${server.url}/api/events/${String(event?.['id'])}/payload`);
  assert.equal(payload.text, '{"id":12345678901234567890}');
  await person.focus('button', 'Emit another');
  await person.press('Enter');
  await person.fill('textbox', 'Name', 'hand.unheard');
  await person.press('Enter');
  await person.sees('It is kept. No webhook has heard it.');
  await person.focus('link', 'To the event');
  await person.press('Enter');
  await person.find('heading', 'hand.unheard');
  await person.sees('No webhook has heard it.');
  await ask(`${server.url}/api/outgoing-webhooks/${hook}`, { method: 'DELETE' });
});

test('one is told that nobody has heard an event, which is not kept', {
  skip,
}, async (context) => {
  const other = await startServer(['--data', createTemporaryFolder()]);
  context.after(() => other.stop());
  await browser.visitAnew(`${other.url}/console#/events`);
  await fillEvent({ Name: 'hand.lost' });
  await person.press('Enter');
  await person.sees(/No webhook has heard it, and it is not kept: .* events\.keep is heard\./);
  assert.ok(!(await person.everything()).some(({ name }) => name === 'To the event'));
});

test('mistakes of an event are told at their fields', { skip }, async () => {
  await browser.visitAnew(`${server.url}/console#/events`);
  await fillEvent({ Name: 'hand.wrong', Payload: '{"a":' });
  const wrong = 'return document.activeElement.name + document.querySelector("dialog").innerText;';
  await person.focus('textbox', 'Name');
  await person.press('Enter');
  await person.gives(wrong, /^payload[^]*Payload is not valid JSON at line 1, column/);
  await person.fill('textbox', 'Payload', '');
  await person.fill('textbox', 'In', '2 hours');
  await person.press('Enter');
  await person.gives(wrong, /^delaySeconds[^]*such as 30s or 2h/);
  await person.fill('textbox', 'In', '9999d');
  await person.press('Enter');
  await person.gives(wrong, /^delaySeconds[^]*31536000/);
  await person.fill('textbox', 'In', '');
  await person.fill('textbox', 'Name', 'delivery.failed');
  await person.press('Enter');
  await person.gives(wrong, /^name[^]*which hookshelf alone emits/);
  await person.press('Escape');
  await person.click('button', 'Leave');
  await person.sees('Emit it', false);
  assert.deepEqual(await listEvents('hand.wrong'), []);
});

test('the dialog that emits an event can be used at 360 pixels', { skip }, async () => {
  await browser.look(360, 740, 'dark');
  await openScreen(browser, server.url, '#/events');
  await fillEvent({ Name: 'hand.small' });
  const { overflow, small, broken, pale } = await readLook(browser);
  await browser.look(1280, 900, 'light');
  assert.deepEqual({ overflow, small, broken, pale },
    { overflow: 0, small: [], broken: [], pale: [] });
});

test('one emits an event for later, after a delay or at a time, and takes it back', {
  skip,
}, async () => {
  await browser.visitAnew(`${server.url}/console#/events?name=hand.late`);
  await fillEvent({ Name: 'hand.late', In: '2h' });
  await person.press('Enter');
  await person.sees(/It is kept, and begins in [12] ?h/);
  await person.sees('Who hears it is decided then.');
  await person.focus('button', 'Cancel it');
  await person.press('Enter');
  await person.find('dialog', 'Cancel the event?');
  await person.click('button', 'Cancel it');
  await person.sees('Cancelled.');
  await person.sees('Emit another', false);
  assert.deepEqual(await listEvents('hand.late'), []);
  await fillEvent({ Name: 'hand.late' });
  await browser.evaluate(`const input = document.querySelector('[name=deliverAt]');
    const at = new Date(Date.now() + 86_400_000);
    input.valueAsNumber = Math.floor(at / 60_000) * 60_000 - at.getTimezoneOffset() * 60_000;`);
  await person.focus('textbox', 'Name');
  await person.press('Enter');
  await person.sees(/It is kept, and begins in (23|24) ?h|tomorrow/);
  const [event] = await listEvents('hand.late');
  const hours = (Date.parse(String(event?.['deliverAt'])) - Date.now()) / 3_600_000;
  assert.ok(hours > 23 && hours <= 24, String(hours));
  await person.focus('button', 'Close');
  await person.press('Enter');
  await person.sees(/^1 event$/m);
});
