/** Order by key in the forms of webhooks, used by keyboard in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const KEY_PATH = 'Path of the key, such as payload.data.book.id';
const at = new ConsoleAtWork();

/** Presses a button as one does without a mouse. */
async function press(name: string, role = 'button'): Promise<void> {
  await at.person.focus(role, name);
  await at.person.press('Enter');
}

/** Chooses an order in the first field of that name, with the path of its key where it has one. */
async function chooseOrder(order: string, keyPath: string | null = null): Promise<void> {
  await at.person.choose('Order', order);
  if (keyPath === null) return;
  // The path is the field behind it.
  await at.person.press('Tab');
  await at.person.gives("return document.activeElement.getAttribute('aria-label');", KEY_PATH);
  await at.person.fill('textbox', KEY_PATH, keyPath);
}

test('the order of an outgoing webhook is edited, by key and without', { skip }, async () => {
  const { person } = at;
  const id = await at.make('/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'order.*' });
  const edit = async (order: string, keyPath?: string): Promise<void> => {
    await press('Edit', 'link');
    await person.focus('DisclosureTriangle', 'More');
    await person.press('Enter');
    await chooseOrder(order, keyPath);
    await person.press('Enter');
  };
  const expectSaved = async (order: unknown): Promise<void> => {
    await person.find('link', 'Edit');
    assert.deepEqual((await at.call('GET', `/api/outgoing-webhooks/${id}`))['order'], order);
  };
  await at.open(`#/outgoing/${id}`);
  await edit('One', 'order.id');
  await person.sees('must begin with payload');
  await person.gives("return document.querySelector('[aria-invalid]')?.name;", 'order');
  await person.fill('textbox', KEY_PATH, 'payload.order.id');
  await person.press('Enter');
  await expectSaved({ key: 'payload.order.id' });
  await press('Edit', 'link');
  await person.gives(`const path = document.querySelector('[aria-label="${KEY_PATH}"]');
    return path?.value;`, 'payload.order.id');
  await press('Cancel');
  await edit('Strict');
  await press('Save');
  await expectSaved('strict');
  await edit('None');
  await press('Save');
  await expectSaved(undefined);
  await at.isClean();
});

test('the order of a route is edited, by key', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('ordered');
  await at.call('PATCH', `/api/incoming-webhooks/${id}`, { answer: 'accepted' });
  await at.open(`#/incoming/${id}`);
  await press('Action and routes', 'link');
  await person.choose('Action', 'None');
  await press('Add route');
  await person.fill('textbox', 'Name', 'billing');
  await chooseOrder('One', 'payload.invoice.number');
  await person.press('Enter');
  await person.find('link', 'Action and routes');
  const { routes, order } = await at.call('GET', `/api/incoming-webhooks/${id}`);
  assert.ok(Array.isArray(routes));
  assert.deepEqual(routes.map(({ name, order: ofRoute }) => [name, ofRoute]),
    [['billing', { key: 'payload.invoice.number' }]]);
  assert.equal(order, undefined);
  await press('Action and routes', 'link');
  await person.gives(`const path = document.querySelector('[aria-label="${KEY_PATH}"]');
    return path?.value;`, 'payload.invoice.number');
  await chooseOrder('Strict');
  await press('Save');
  await person.find('link', 'Action and routes');
  const [route] = Object(await at.call('GET', `/api/incoming-webhooks/${id}`)).routes;
  assert.equal(route.order, 'strict');
  await at.isClean();
});
