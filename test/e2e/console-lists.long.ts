/** Lists of the console: how many rows there are, and filters that stand in the address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork, HOLD_REQUESTS, RELEASE } from './console-hooks.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
/** More than a list reads at first. */
const MANY = 130;
/** How many rows the list says that it has, and whether one that is seen is not read yet. */
const ROWS = `const rows = document.querySelector('table.rows');
  return [rows?.ariaRowCount, rows?.innerText.includes('…')];`;
const HASH = 'return location.hash;';
const SINCE = "return document.querySelector('[name=since]')?.value;";
const at = new ConsoleAtWork();

/** The identifier of a new webhook to which one request was sent. */
async function receive(pathSegment: string): Promise<string> {
  const hook = await at.makeIncoming(pathSegment);
  const { status } = await ask(`${at.url}/webhook/in/${pathSegment}`, { method: 'POST', body: {} });
  assert.equal(status, 200);
  return hook;
}

/** The identifiers of so many new deliveries of an event that wait, the oldest first. */
async function makeDeliveries(count: number, event: string): Promise<readonly string[]> {
  await at.make('/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:9/', triggerEvent: event, retrySchedule: [3600],
  });
  await Promise.all(Array.from({ length: count }, () =>
    at.call('POST', '/api/events', { name: event, payload: {} })));
  return Object.values(await at.call('GET', `/api/deliveries?event=${event}`)).map((delivery) => {
    assert.ok(typeof delivery === 'object' && delivery !== null && 'identifier' in delivery);
    return String(delivery.identifier);
  });
}

async function cancel(deliveries: readonly string[]): Promise<void> {
  await Promise.all(deliveries.map((id) => at.call('POST', `/api/deliveries/${id}/cancel`)));
}

/** Within the open page: Chromium keeps the stream of one that was left open for a while. */
async function show(hash: string): Promise<void> {
  await at.browser.evaluate(`location.hash = '${hash}';`);
}

/** Changes the value of a filter as a control of it does. */
function setFilter(name: string, value: string): string {
  return `const filter = document.querySelector('[name=${name}]');
    filter.value = '${value}';
    filter.dispatchEvent(new Event('input'));`;
}

test('a list says how many rows there are, though some go or come back that it has not read',
  { skip }, async () => {
    const { person } = at;
    const ids = await makeDeliveries(MANY, 'many');
    const hash = '#/deliveries?event=many&status=pending';
    await at.open(hash);
    await person.sees('130 deliveries');
    await person.click('button', 'Pause');
    await cancel(ids.slice(0, 10));
    await person.gives(`scrollTo(0, document.documentElement.scrollHeight); ${ROWS}`,
      ['121', false]);
    await person.sees('120 deliveries');
    await show('#/books');
    await person.find('heading', 'Books');
    await show(hash);
    await person.sees('120 deliveries');
    await cancel(ids.slice(10, 20));
    await person.sees('110 deliveries');
    await at.call('POST', `/api/deliveries/${ids[0]}/resend`, {});
    await person.sees('111 deliveries');
    await cancel(ids.slice(30));
    await person.gives(ROWS, ['12', false]);
    await person.sees('11 deliveries');
    await at.isClean();
  });

test('a page that failed is not read again once another list is shown', { skip }, async () => {
  const { person, browser } = at;
  await makeDeliveries(MANY, 'failing');
  await at.open('#/deliveries?event=failing');
  await browser.evaluate(`const send = window.fetch;
    window.isFailing = true;
    window.fetch = async (path, ...more) => {
      if (window.isFailing && path.includes('cursor=')) return new Response('', { status: 503 });
      return send(path, ...more);
    };
    const wait = window.setTimeout;
    window.retries = [];
    window.setTimeout = (run, ms) => ms === 2000 ? window.retries.push(run) : wait(run, ms);`);
  await person.gives(`scrollTo(0, document.documentElement.scrollHeight);
    return window.retries.length > 0;`, true);
  await browser.evaluate('window.isFailing = false;');
  await person.choose('Status', 'pending');
  await person.gives(HASH, '#/deliveries?event=failing&status=pending');
  await person.gives('return document.querySelector("[aria-busy]") === null;', true);
  await browser.evaluate(HOLD_REQUESTS);
  // A page, and not the number of rows, which is asked for where some have changed.
  const countReads = "return held.filter(({ path }) => path.includes('limit=1000')).length;";
  await person.gives(`scrollTo(0, document.documentElement.scrollHeight); ${countReads}`, 1);
  await browser.evaluate('for (const retry of window.retries) retry();');
  assert.equal(await browser.evaluate(countReads), 1);
  await browser.evaluate(RELEASE);
  await person.gives(ROWS, ['131', false]);
});

test('a filter of the address that nobody offers filters all the same, or is explained', { skip },
  async () => {
    const { person } = at;
    const chosen = "return document.querySelector('[name=hook]')?.value;";
    await receive('other');
    const hook = await receive('offered');
    await at.open('#/requests?hook=gone');
    await person.sees('No request matches.');
    await person.gives(chosen, 'gone');
    await person.choose('Webhook', 'offered');
    await person.sees(/^1 request$/m);
    await show(`#/requests?hook=${hook}`);
    await person.sees(/^1 request$/m);
    await person.gives(chosen, hook);
    await show('#/requests?hook=offered&status=foo');
    await person.sees('status must be one of');
    await person.choose('Status', 'done');
    await person.sees(/^1 request$/m);
    await at.isClean();
  });

test('a time that is none is left out of the list and of the address', { skip }, async () => {
  const { person, browser } = at;
  await receive('timed');
  await at.open('#/books');
  for (const since of ['garbage', '12026-01-01T00:00']) {
    await show(`#/requests?hook=timed&since=${since}`);
    await person.sees(/^1 request$/m);
    await person.gives(HASH, '#/requests?hook=timed');
  }
  await browser.evaluate(setFilter('since', '9026-01-01T10:00'));
  await person.sees('No request matches.');
  await browser.evaluate(setFilter('since', '20261-01-01T10:00'));
  await person.sees(/^1 request$/m);
  await person.gives(HASH, '#/requests?hook=timed');
  await browser.evaluate(setFilter('since', ''));
  await person.focus('DateTime', 'Since');
  // After four digits of the year come those of the hour.
  for (const key of '010120261030A') await person.press(key);
  await person.gives(SINCE, '2026-01-01T10:30');
  await at.isClean();
});

test('a time in the address is the same in every time zone', { skip }, async (t) => {
  const { person, browser } = at;
  const inZone = (timezoneId: string): Promise<unknown> =>
    browser.command('Emulation.setTimezoneOverride', { timezoneId });
  const inAddress = /since=2026-01-15T15%3A00%3A00.000Z$/;
  t.after(() => inZone(''));
  await inZone('America/New_York');
  await at.open('#/requests');
  await person.find('button', 'Pause');
  await browser.evaluate(setFilter('since', '2026-01-15T10:00'));
  await person.gives(HASH, inAddress);
  const hash = String(await browser.evaluate(HASH));
  await inZone('Asia/Tokyo');
  await show('#/books');
  await person.find('heading', 'Books');
  await show(hash);
  await person.gives(SINCE, '2026-01-16T00:00');
  await person.gives(HASH, hash);
  // Addresses have been sent that say no zone.
  await inZone('America/New_York');
  await show('#/requests?since=2026-01-15T10:00');
  await person.gives(SINCE, '2026-01-15T10:00');
  await person.gives(HASH, inAddress);
  await at.isClean();
});

test('what was being typed when one left is no filter of the next screen', { skip }, async () => {
  const { person, browser } = at;
  await at.make('/api/books', { title: 'Emma' });
  await at.open('#/books');
  await person.find('combobox', 'Search');
  await browser.evaluate(`${setFilter('q', 'emma')} location.hash = '#/log';`);
  await person.find('heading', 'Log');
  // The page's timers end in the order in which they are due.
  await browser.evaluate('return new Promise((after) => setTimeout(after, 300));');
  await person.gives(HASH, '#/log');
});

test('the title of a list that is opened by keys keeps the focus', { skip }, async () => {
  const { person } = at;
  await at.open('#/books');
  await person.find('combobox', 'Search');
  for (const [key, title] of [['r', 'Requests'], ['d', 'Deliveries']] as const) {
    await person.press('g');
    await person.press(key);
    await person.find('heading', title);
    await person.find('button', 'Pause');
    await person.gives('return document.activeElement.innerText;', title);
  }
});

test('below a prefix that holds /api/ a list reads its second page from its own path', { skip },
  async (context) => {
    const directory = createTemporaryFolder();
    const server = await startServer(['--data', directory],
      { environment: { HOOKSHELF_SERVER_BASE_URI: 'https://shop.example/api/hooks' } });
    context.after(() => server.stop());
    const post = (path: string, body: object): Promise<unknown> =>
      ask(server.url + path, { method: 'POST', body });
    await post('/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'many', retrySchedule: [3600] });
    await Promise.all(Array.from({ length: MANY }, () => post('/api/events', { name: 'many' })));
    const [oldest] = JSON.parse((await ask(`${server.url}/api/deliveries?limit=1`)).text);
    const { browser, person } = at;
    await browser.visitAnew(`${server.url}/console#/deliveries`);
    await person.sees('130 deliveries');
    await person.gives(`scrollTo(0, document.documentElement.scrollHeight);
      return document.querySelector('a[href$="${oldest.identifier}"]') !== null;`, true);
  });

test('a search of the inbox goes on by itself, and says what it has found', { skip }, async () => {
  const { person, browser } = at;
  const hook = await at.makeIncoming('searched');
  const send = async (note: string): Promise<void> => {
    const { status } =
      await ask(`${at.url}/webhook/in/searched`, { method: 'POST', body: { note } });
    assert.equal(status, 200);
  };
  await send('the first needle');
  // More than one page of the search.
  for (let count = 0; count < 120; count += 1) await send('hay');
  await at.open(`#/requests?hook=${hook}`);
  await person.sees(/^121 requests$/m);
  await person.find('button', 'Send many again…');
  await browser.evaluate(setFilter('q', 'hay'));
  await person.sees(/^120 requests$/m);
  await browser.evaluate(setFilter('q', 'NEEDLE'));
  await person.sees(/^1 request$/m);
  await person.gives(HASH, /q=NEEDLE/);
  await person.click('button', 'Send many again…');
  await person.sees('empty “Search” and “Where” first');
  await send('another needle, which came later');
  await browser.evaluate(setFilter('q', 'nothing'));
  await person.sees('No request matches.');
  await browser.evaluate(setFilter('q', 'needle'));
  await person.sees(/^2 requests$/m);
  await at.isClean();
});

test('each list of what came and went takes conditions, typed one after the other', { skip },
  async () => {
    const { person } = at;
    const hook = await at.makeIncoming('conditions');
    await at.make('/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'order.*', retrySchedule: [3600],
    });
    for (const [id, total] of [[42, 10], [42, 200], [7, 200]]) {
      await ask(`${at.url}/webhook/in/conditions`, { method: 'POST', body: { id, total } });
      await at.call('POST', '/api/events', { name: 'order.created', payload: { id, total } });
    }
    for (const [hash, noun, plural] of [
      [`#/requests?hook=${hook}`, 'request', 'requests'],
      ['#/deliveries?event=order.created', 'delivery', 'deliveries'],
      ['#/events?name=order.created', 'event', 'events'],
    ] as const) {
      await at.open(hash);
      await person.sees(new RegExp(`^3 ${plural}$`, 'm'));
      await person.fill('searchbox', 'Where', 'payload.id=42');
      await person.press('Enter');
      await person.sees(new RegExp(`^2 ${plural}$`, 'm'));
      // The field for one more is the next one.
      await person.press('Tab');
      await person.gives('return document.activeElement.labels?.[0].innerText;', 'Where 2');
      await person.fill('searchbox', 'Where 2', 'payload.total>=100');
      await person.press('Enter');
      await person.sees(new RegExp(`^1 ${noun}$`, 'm'));
      await person.gives(HASH, /where=payload\.id%3D42&where=payload\.total%3E%3D100/);
      await person.find('searchbox', 'Where 3');
      if (plural !== 'events') {
        await person.click('button', 'Send many again…');
        await person.sees('empty “Search” and “Where” first');
      }
      await person.fill('searchbox', 'Where', 'payload.id');
      await person.sees('Not complete yet');
      await person.press('Enter');
      await person.sees(/where number 1 .*payload\.id/);
    }
    await at.isClean();
  });

test('conditions come with the address, and go on beside words until all is searched', { skip },
  async () => {
    const { person, browser } = at;
    await at.make('/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'far', retrySchedule: [3600],
    });
    const emit = (id: number): Promise<unknown> =>
      at.call('POST', '/api/events', { name: 'far', payload: { note: 'needle', id } });
    await emit(1);
    await Promise.all(Array.from({ length: MANY }, () => emit(2)));
    const where = encodeURIComponent('payload.id!=1');
    await at.open(`#/deliveries?event=far&q=needle&where=${where}`);
    await person.gives("return document.querySelector('[name=where]')?.value;", 'payload.id!=1');
    await person.gives(`scrollTo(0, document.documentElement.scrollHeight);
      return document.querySelector('main p.count').innerText;`, '130 deliveries');
    await browser.evaluate(setFilter('q', ''));
    await person.gives(HASH, `#/deliveries?where=${where.replaceAll('!', '%21')}&event=far`);
    await at.isClean();
  });
