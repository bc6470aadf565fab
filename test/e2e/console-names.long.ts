/** Names and descriptions of webhooks in the console, used as a person does, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';
import { readLook } from './console-look.ts';

const skip = lacksBrowser;
const at = new ConsoleAtWork();
const HOSTILE = '<img src=x onerror="window.hacked = true">\u202egnp.exe';
/** What the first cells of a list say, each with its place behind its name. */
const FIRST_CELLS = `return [...document.querySelectorAll('.rows tbody td:first-child')]
  .filter((cell) => cell.innerText !== '').map((cell) => cell.textContent);`;
/** Where the deliveries of a list go. */
const TARGETS = `return [...document.querySelectorAll('.rows td[data-title=To]')]
  .map((cell) => cell.textContent);`;
/** At how many places the words of second cells end, whatever they say. */
const RIGHT_EDGES = `return new Set([...document.querySelectorAll('.rows tbody td.right')]
  .map((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return Math.round(range.getBoundingClientRect().right);
  })).size;`;

/** Two customers at one host, as only their names and paths tell them apart. */
async function makeCustomers(): Promise<readonly string[]> {
  const made = [];
  for (const name of ['anna', 'bert', undefined]) {
    made.push(await at.make('/api/outgoing-webhooks', {
      ...name === undefined ? {} : { name, description: `Of ${name}: ${HOSTILE}` },
      targetUrl: `http://127.0.0.1:9/hooks/${name ?? 'nobody'}?token=secret`,
      triggerEvent: 'customers.told', retrySchedule: [0, 0, 3600],
    }));
  }
  return made;
}

test('webhooks at one host are told apart by name and path, wherever they stand', { skip },
  async () => {
    const { person, browser } = at;
    const [anna = ''] = await makeCustomers();
    await at.call('POST', '/api/events', { name: 'customers.told', payload: {} });
    const labels = ['anna 127.0.0.1:9/hooks/anna', 'bert 127.0.0.1:9/hooks/bert',
      '127.0.0.1:9/hooks/nobody'];
    await at.open('#/outgoing');
    await person.sees('3 webhooks');
    await person.gives(FIRST_CELLS, labels);
    await at.open('#/deliveries');
    await person.sees('3 deliveries');
    for (const label of labels) {
      await person.gives(`return document.querySelector('.rows').textContent.includes(
        ${JSON.stringify(label)});`, true);
    }
    await person.choose('Webhook', 'anna (127.0.0.1:9/hooks/anna)');
    await person.sees('1 delivery');
    await person.click('link', /now|ago/);
    await person.click('link', 'anna 127.0.0.1:9/hooks/anna');
    await person.find('heading', 'anna');
    await person.sees(/Of anna: <img src=x onerror="window.hacked = true">/);
    assert.equal(await browser.evaluate('return window.hacked ?? null;'), null);
    await at.open('#/deliveries?hook=anna');
    await person.sees('1 delivery');
    await person.gives("return document.querySelector('[name=hook]').selectedOptions[0].text;",
      'anna (127.0.0.1:9/hooks/anna)');
    await at.open('#/');
    await person.find('link', 'anna 127.0.0.1:9/hooks/anna');
    await at.open('#/outgoing');
    for (const width of [360, 1280]) {
      await browser.look(width, 800, 'light');
      const { overflow, planted } = await readLook(browser);
      assert.deepEqual([overflow, planted], [0, 0], `${width}`);
    }
    await at.call('DELETE', `/api/outgoing-webhooks/${anna}`);
    await at.open('#/deliveries?status=cancelled');
    // Where it went is known still.
    await person.gives(TARGETS, ['127.0.0.1:9/hooks/anna']);
    await at.isClean();
  });

test('a name and a description are given, changed and taken away', { skip }, async () => {
  const { person } = at;
  await at.open('#/outgoing/new');
  await person.fill('textbox', 'Name', 'Not A Slug');
  await person.fill('textbox', 'Address', 'http://127.0.0.1:9/sales');
  await person.fill('textbox', 'Description', 'The CRM of the sales team');
  await person.click('button', 'Add the webhook');
  await person.sees(/1-64 of a-z, 0-9/);
  await person.fill('textbox', 'Name', 'crm');
  await person.click('button', 'Add the webhook');
  await person.click('button', 'I have it');
  await person.find('heading', 'crm');
  await person.sees('The CRM of the sales team');
  await person.click('link', 'Edit');
  await person.find('heading', 'Edit crm');
  await person.fill('textbox', 'Name', '');
  await person.click('button', 'Save');
  await person.find('heading', 'http://127.0.0.1:9/sales');
  await person.sees('The CRM of the sales team');
  await at.isClean();
});

test('an incoming webhook is known by its name, and found by it', { skip }, async () => {
  const { person, browser } = at;
  await at.open('#/incoming/new');
  await person.fill('textbox', 'Path', 'p-7f3a');
  await person.fill('textbox', 'Name', 'orders');
  await person.fill('textbox', 'Description', 'Of the shop');
  await person.click('button', 'Next: what is done');
  await person.choose('Action', 'Write');
  await person.fill('textbox', 'Description', 'Says what came');
  await person.click('button', 'Create it, then test it');
  await person.find('heading', 'Test orders');
  await person.click('link', 'Done');
  await person.find('heading', 'orders');
  await person.sees('Of the shop');
  await person.sees('Says what came (Write');
  const hook = await at.call('GET', '/api/incoming-webhooks/orders');
  assert.equal((await ask(`${at.url}/webhook/in/p-7f3a`, { method: 'POST', body: {} })).status,
    200);
  await at.make('/api/incoming-webhooks', {
    pathSegment: 'another', actionConfiguration: hook['actionConfiguration'],
  });
  await at.open('#/incoming');
  await person.gives(FIRST_CELLS, ['orders p-7f3a', 'another']);
  await person.sees(/2 webhooks\. The figures of 24 hours .* since the server started, \d/);
  await browser.look(360, 800, 'light');
  await person.gives(RIGHT_EDGES, 1);
  await browser.look(1280, 900, 'light');
  await at.open('#/requests');
  await person.choose('Webhook', 'orders (p-7f3a)');
  await person.sees('1 request');
  for (const name of ['orders', 'p-7f3a', String(hook['identifier'])]) {
    await at.open(`#/requests?hook=${name}`);
    await person.sees('1 request');
    // One that comes while one looks belongs there too.
    await ask(`${at.url}/webhook/in/p-7f3a`, { method: 'POST', body: {} });
    await person.sees('2 requests');
    const [newest] = Object.values(await at.call('GET', '/api/requests'));
    await at.call('DELETE', `/api/requests/${String(Object(newest).id)}`);
    await person.sees('1 request');
  }
  await at.isClean();
});
