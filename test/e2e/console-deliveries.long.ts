/** The deliveries and the overview of the console, used as a person does, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aroundTests } from '../support/around-tests.ts';
import { Browser, hasBrowser, lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { startServer } from './processes.ts';
import type { Running } from './processes.ts';
import { FlappingTarget } from './relay-target.ts';

const skip = lacksBrowser;
/** Requests that wait, and room for so many copies of them. */
const PENDING = 250;
const ROOM = 100;

const directory = createTemporaryFolder();
const target = new FlappingTarget();
const browser = Browser.forTests();
const person = new Person(browser);
let server: Running;

aroundTests(async () => {
  if (!hasBrowser) return;
  await target.open();
  await target.turn('failing');
  server = await startServer(['--data', directory], { environment: {
    HOOKSHELF_OUTGOING_RETRY_SCHEDULE: '[]', HOOKSHELF_INCOMING_RETRY_SCHEDULE: '[3600]',
    HOOKSHELF_INBOX_MAX_COUNT: String(PENDING + ROOM),
  } });
  await browser.look(1280, 900, 'light');
  await make('/api/outgoing-webhooks', { targetUrl: `${target.url}sink`, triggerEvent: 'order.*',
    secret: 'a secret of some length' });
}, async () => {
  // There is none when it did not start.
  await server?.stop();
  await target.close();
});

function make(path: string, body: object): Promise<string> {
  return addRecord(server.url + path, body);
}

async function emit(name: string, payload: object = {}): Promise<void> {
  const { status } = await ask(`${server.url}/api/events`, {
    method: 'POST', body: { name, payload },
  });
  assert.equal(status, 202);
}

async function open(hash: string): Promise<void> {
  await browser.visitAnew(`${server.url}/console${hash}`);
}

test('one finds what failed and sends it again, all at once', { skip }, async () => {
  for (let order = 1; order <= 5; order += 1) await emit('order.created', { order });
  await open('#/');
  await person.sees(/1 hour/);
  await person.click('link', 'Deliveries');
  await person.choose('Status', 'failed');
  await person.sees('5 deliveries');
  await person.click('link', /now|ago/);
  await person.sees('answered 500');
  await person.sees('POST http://127.0.0.1');
  await person.sees(/"order": 5/);
  await browser.evaluate('history.back();');
  await person.sees('5 deliveries');
  await target.turn('up');
  await person.click('button', 'Send many again…');
  await person.sees('Send 5 deliveries again?');
  await person.sees('These are all with status failed.');
  await person.click('button', 'Send again');
  await person.sees('Sent again: 5 of 5.');
  // They are pending at once, and only then on their way.
  await person.sees('No delivery matches.');
  await person.choose('Status', 'delivered');
  await person.sees('5 deliveries');
  assert.equal(target.arrived.length, 5);
});

test('one delivery is sent again under its id, and as a new one', { skip }, async () => {
  await open('#/deliveries');
  await person.click('link', /now|ago/);
  await person.find('button', 'Send as new');
  const before = target.arrived.length;
  await person.click('button', 'Send again');
  await person.sees('It is sent again, under the same id.');
  await person.sees(/answered 20\d.*\n.*answered 20\d/s);
  await person.click('button', 'Send as new');
  await person.sees('It is sent again, under a new id.');
  await person.sees('Sent again from');
  await person.sees(/answered 20\d/);
  const [first, second] = target.arrived.slice(before).map(({ id }) => id);
  assert.notEqual(first, second);
});

test('a pending delivery is tried now, and cancelled', { skip }, async () => {
  await target.turn('down');
  const paused = await make('/api/outgoing-webhooks', {
    targetUrl: `${target.url}later`, triggerEvent: 'later', retrySchedule: [3600],
  });
  assert.ok(paused !== '');
  await emit('later');
  await open('#/deliveries?event=later&status=failed');
  await person.click('link', '1 delivery pending or failing');
  await person.sees('failing');
  await person.click('link', /now|ago/);
  await person.sees('next attempt');
  await person.sees('Try now sends the same body.');
  await person.click('button', 'Try now');
  await person.sees('It is tried now.');
  await person.click('button', 'Cancel it');
  await person.sees('It will not be sent any more.');
  await person.click('button', 'Keep things as they are');
  await person.sees('It will not be sent any more.', false);
  await person.click('button', 'Cancel it');
  await person.press('Escape');
  await person.click('button', 'Cancel it');
  await person.sees('As a command');
  await browser.evaluate('document.querySelector("dialog .danger").click();');
  await person.sees('Cancelled.');
  await person.sees('cancelled');
  await target.turn('up');
});

test('the overview says what fails since when, with a table behind its charts', { skip },
  async () => {
    await target.turn('failing');
    await emit('order.failed');
    await open('#/');
    await person.sees(/Writes are taken; \d+ webhooks? failing/);
    await person.find('image', /^Requests: .*accepted.*rejected.*failed/);
    await person.find('image', /^Delivery attempts: .*[1-9]\d* delivered.*[1-9]\d* failed/);
    await person.click('button', '24 hours');
    await person.sees('attempts in each 30 minutes');
    await person.gives('return location.hash;', /window=24h/);
    await person.sees(/127\.0\.0\.1:\d+\/\S*\s+failing/);
    await person.click('DisclosureTriangle', 'As a table');
  });

test('a job that runs is found again after a reload, and can be stopped', { skip }, async () => {
  const actionConfiguration = await make('/api/action-configurations', {
    actionType: 'http-forward', options: { url: 'http://127.0.0.1:9/' },
  });
  await make('/api/incoming-webhooks', {
    pathSegment: 'broken', actionConfiguration, inbox: 'all', answer: 'accepted',
  });
  await Promise.all(Array.from({ length: PENDING }, (_, sent) =>
    ask(`${server.url}/webhook/in/broken`, { method: 'POST', body: { sent } })));
  await open('#/requests?status=pending');
  await person.sees(`${PENDING} requests`);
  await person.click('button', 'Send many again…');
  await person.click('radio', /^As a new one/);
  await person.click('button', 'Send again');
  await person.find('progressbar', 'Progress');
  await open('#/requests');
  await person.sees(`of ${PENDING}`);
  await person.click('button', 'Stop it');
  await person.sees(/Stopped: \d+ of \d+/);
});

test('a delivery whose webhook is off says that it waits for it', { skip }, async () => {
  await target.turn('failing');
  const hook = await make('/api/outgoing-webhooks',
    { targetUrl: `${target.url}off`, triggerEvent: 'parcel.lost', retrySchedule: [3600] });
  await emit('parcel.lost');
  await ask(`${server.url}/api/outgoing-webhooks/${hook}`,
    { method: 'PATCH', body: { enabled: false } });
  await open(`#/deliveries?hook=${hook}`);
  await person.sees('waits: its webhook is off');
  await person.click('link', /now|ago/);
  await person.sees('Next attempt');
  await person.sees('waits: its webhook is off');
});

test('of a list of any status those that failed are sent again, or all', { skip }, async () => {
  await make('/api/outgoing-webhooks', { targetUrl: `${target.url}any`, triggerEvent: 'any.sent' });
  const list = async (): Promise<readonly { readonly status: string }[]> =>
    JSON.parse((await ask(`${server.url}/api/deliveries?event=any.sent`)).text);
  for (const [state, status] of [['up', 'delivered'], ['failing', 'failed']] as const) {
    await target.turn(state);
    await emit('any.sent');
    await until(status, async () => (await list()).some((delivery) => delivery.status === status));
  }
  await open('#/deliveries?event=any.sent');
  await person.click('button', 'Send many again…');
  await person.sees('Of all with event any.sent.');
  await person.sees('1 delivery that failed');
  await person.click('button', 'Send again');
  await person.sees('Sent again: 1 of 1.');
  await until('it failed again', async () =>
    (await list()).some(({ status }) => status === 'failed'));
  await target.turn('up');
  await person.click('button', 'Send many again…');
  await person.click('radio', 'All 2');
  await person.click('button', 'Send again');
  await person.sees('Sent again: 2 of 2.');
  await until('both came', async () =>
    (await list()).every(({ status }) => status === 'delivered'));
  await person.click('button', 'Send many again…');
  await person.sees('Send 2 deliveries again?');
});

test('a delivery that waits for the rate of its webhook says so, and until when', { skip },
  async () => {
    const hook = await make('/api/outgoing-webhooks', {
      targetUrl: `${target.url}slow`, triggerEvent: 'parcel.slow',
      rate: { limit: 1, seconds: 3600 },
    });
    for (let count = 0; count < 3; count += 1) await emit('parcel.slow');
    await open(`#/deliveries?hook=${hook}&status=pending`);
    await person.sees(/waits for its rate, next in \d+ min/);
    await open(`#/outgoing/${hook}`);
    await person.sees(/the oldest .*: waits for its rate, next in \d+ min\./);
  });
