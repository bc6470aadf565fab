/** Which webhooks fail, since when and why, in the console: also after a restart. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { aroundTests } from '../support/around-tests.ts';
import { Browser, hasBrowser, lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { readLook } from './console-look.ts';
import { FlappingTarget } from './relay-target.ts';
import { startServer, type Running } from './processes.ts';

const skip = lacksBrowser;
const target = new FlappingTarget();
const browser = Browser.forTests();
const person = new Person(browser);
/** Of each row of a list: what it is called, and its state. */
const STATES = `return [...document.querySelectorAll('.rows tbody tr')]
  .filter((row) => row.dataset.key !== undefined)
  .map((row) => row.querySelector('td').textContent + ' '
    + row.querySelector('.badge').textContent);`;

before(() => target.open());
after(() => target.close());
aroundTests(async () => {
  if (hasBrowser) await browser.look(1280, 900, 'light');
});

/** Answers that it is there no more. */
const goneTarget = createServer((_, response) => response.writeHead(410).end());

before(() => once(goneTarget.listen(0, '127.0.0.1'), 'listening'));
after(() => goneTarget.close());

function goneTargetPort(): number {
  const address = goneTarget.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

function withServer(
  use: (server: Running, data: string) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  return inFolder(async (data) => {
    const server = await startServer(['--data', data], { environment });
    try {
      await use(server, data);
    } finally {
      await server.stop();
    }
  });
}

async function call(
  { url }: Running, method: string, path: string, body: object = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { status, text } = await ask(url + path, { method, body });
  assert.ok(status < 300, `${path}: ${status} ${text}`);
  return text === '' ? {} : JSON.parse(text);
}

async function makeOutgoing(server: Running, name: string, more: object = {}): Promise<string> {
  const made = await call(server, 'POST', '/api/outgoing-webhooks', {
    name, targetUrl: `${target.url}${name}`, retrySchedule: [0, 0, 3600], ...more,
  });
  return String(made['identifier']);
}

async function untilFailing(server: Running, count: number): Promise<void> {
  await until(`${count} fail`, async () => {
    const { text } = await ask(`${server.url}/api/status`);
    return JSON.parse(text).webhooks.failing === count;
  });
}

async function open({ url }: Running, hash: string): Promise<void> {
  await browser.complaints();
  await browser.visitAnew(`${url}/console${hash}`);
}

test('the overview of a new server offers first steps, until one is made', { skip },
  () => withServer(async (server) => {
    await open(server, '#/');
    await person.sees('Nothing is here yet. A first step:');
    await person.find('link', 'Add a book');
    await person.find('link', 'Add an outgoing webhook');
    await person.click('link', 'Add an incoming webhook');
    await person.find('heading', 'A new incoming webhook');
    await open(server, '#/');
    await person.click('link', 'Import a file of books');
    await person.find('heading', 'Import and export');
    await call(server, 'POST', '/api/books', { title: 'Emma' });
    await open(server, '#/');
    await person.sees('All is well');
    await person.sees('A first step', false);
  }));

test('the overview names what fails, with reason and time, also after a restart', { skip },
  () => withServer(async (first, data) => {
    await target.turn('failing');
    const hook = await makeOutgoing(first, 'crm', { triggerEvent: 'shop.opened' });
    await makeOutgoing(first, 'quiet', { triggerEvent: 'shop.closed' });
    await call(first, 'POST', '/api/events', { name: 'shop.opened', payload: {} });
    await untilFailing(first, 1);
    const { health } = await call(first, 'GET', `/api/outgoing-webhooks/${hook}`);
    await first.stop();
    const second = await startServer(['--data', data]);
    try {
      await open(second, '#/');
      await person.sees('Writes are taken; 1 webhook failing.');
      await person.sees('1 failing, 1 healthy');
      await person.sees(/crm 127\.0\.0\.1:\d+\/crm\s+failing\s.*HTTP 500/);
      await person.gives("return document.querySelector('table time').dateTime;",
        Object(health).since);
      await person.click('link', /^crm /);
      await person.find('heading', 'crm');
      await person.sees(/failing\s+for/);
      await person.sees(/Last failure\s+HTTP 500/);
    } finally {
      await second.stop();
    }
  }));

test('a webhook whose last try failed is not called healthy anywhere', { skip },
  () => withServer(async (server) => {
    await target.turn('failing');
    const crm = await makeOutgoing(server, 'crm', {
      triggerEvent: 'shop.opened', retrySchedule: [3600],
    });
    await call(server, 'POST', '/api/events', { name: 'shop.opened', payload: {} });
    await until('it was tried', async () => {
      const { health } = await call(server, 'GET', `/api/outgoing-webhooks/${crm}`);
      return Object(health).lastFailure !== null;
    });
    const { webhooks } = await call(server, 'GET', '/api/status');
    assert.deepEqual(webhooks,
      { healthy: 1, failing: 0, rejecting: 0, off: 0, lastTryFailed: 1 });
    await open(server, '#/');
    await person.sees('Writes are taken; the last try of 1 webhook failed.');
    await person.sees('1 whose last try failed');
    await person.sees(/crm 127\.0\.0\.1:\d+\/crm\s+last try failed\s.*HTTP 500/);
    await open(server, '#/outgoing');
    await person.gives(STATES, [`crm ${target.url.slice(7)}crm last try failed`]);
    await person.click('link', /^crm /);
    await person.sees(/State\s+last try failed\s/);
    await person.sees('0 % of 1 attempt');
    await target.turn('up');
    await person.click('button', 'Send it now');
    await person.sees('It was answered 200');
    const [{ identifier }] =
      JSON.parse((await ask(`${server.url}/api/deliveries?hook=${crm}`)).text);
    await call(server, 'POST', `/api/deliveries/${identifier}/retry`);
    await person.sees(/State\s+healthy\s/);
    await open(server, '#/');
    await person.sees('All is well: writes are taken.');
    await person.sees('last try', false);
    // Where all is well no list of webhooks is asked for again and again.
    await person.gives(`return performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('state=')).length;`, 0);
  }));

test('the overview says that the queue of deliveries is full', { skip },
  () => withServer(async (server) => {
    await target.turn('failing');
    await makeOutgoing(server, 'stock', { triggerEvent: 'shop.sold', retrySchedule: [3600] });
    await call(server, 'POST', '/api/events', { name: 'shop.sold', payload: {} });
    await open(server, '#/');
    await person.sees(/not those that queue deliveries, as 1 wait \(outgoing\.maxPending\)/);
  }, { HOOKSHELF_OUTGOING_MAX_PENDING: '1' }));

test('the overview names a webhook that gets no events, so that others have room', { skip },
  () => withServer(async (server) => {
    await target.turn('failing');
    await makeOutgoing(server, 'stock', { triggerEvent: 'shop.sold', retrySchedule: [3600] });
    await makeOutgoing(server, 'other', { triggerEvent: 'shop.opened' });
    await call(server, 'POST', '/api/events', { name: 'shop.sold', payload: {} });
    await open(server, '#/');
    await person.sees(/no events for those with most waiting: stock \(1\)/);
  }, { HOOKSHELF_OUTGOING_MAX_PENDING: '2' }));

test('the overview says that nothing is sent or run', { skip },
  () => withServer(async (server) => {
    await open(server, '#/');
    await person.sees('Writes are taken; nothing is sent or run (server.paused).');
  }, { HOOKSHELF_SERVER_PAUSED: 'true' }));

test('the overview names keys that hold back many deliveries', { skip },
  () => withServer(async (server) => {
    await target.turn('failing');
    await makeOutgoing(server, 'stock', {
      triggerEvent: 'shop.sold', retrySchedule: [3600], order: { key: 'payload.item' },
    });
    for (let count = 0; count < 102; count += 1) {
      await call(server, 'POST', '/api/events', { name: 'shop.sold', payload: { item: 'tea' } });
    }
    await open(server, '#/');
    await person.find('heading', 'Held back');
    await person.sees(/stock 127\.0\.0\.1:\d+\/stock\s+"tea"\s+101/);
  }));

test('the overview says when the server last backed up by itself, and why it did not', { skip },
  () => inFolder(async (folder) => {
    const to = join(folder, 'backups');
    writeFileSync(to, 'no directory');
    await withServer(async (server) => {
      const readBackups = async (): Promise<Readonly<Record<string, unknown>>> =>
        Object((await call(server, 'GET', '/api/status'))['backups']);
      await until('one has failed', async () => (await readBackups())['failure'] !== null);
      await open(server, '#/');
      await person.sees('Writes are taken; the last backup failed.');
      await person.sees(
        /Last backup\s+not since .*\s+Backups by itself\s+none yet, in \S+ failed .*: backup\.to/);
      rmSync(to);
      await until('one is made', async () => {
        const { newestAt, failure } = await readBackups();
        return newestAt !== null && failure === null;
      });
      await open(server, '#/');
      await person.sees('All is well: writes are taken.');
      await person.sees(/Last backup\s+now\s+Backups by itself\s+now, in \S+backups\s/);
      await person.sees('backup.to', false);
    }, { HOOKSHELF_BACKUP_TO: to, HOOKSHELF_BACKUP_EVERY_HOURS: '0.0003' });
  }));

test('the overview has no row of backups where the server makes none', { skip },
  () => withServer(async (server) => {
    await open(server, '#/');
    await person.sees('Last backup');
    await person.sees('Backups by itself', false);
  }));

test('lists tell the state of each webhook, and are filtered by it in the address', { skip },
  () => withServer(async (server) => {
    await target.turn('failing');
    await makeOutgoing(server, 'crm', { triggerEvent: 'shop.opened' });
    const off = await makeOutgoing(server, 'resting');
    await call(server, 'PATCH', `/api/outgoing-webhooks/${off}`, { enabled: false });
    await call(server, 'POST', '/api/events', { name: 'shop.opened', payload: {} });
    await untilFailing(server, 1);
    await open(server, '#/outgoing');
    await person.sees('2 webhooks');
    await person.gives(STATES, [`crm ${target.url.slice(7)}crm failing`,
      `resting ${target.url.slice(7)}resting off`]);
    await person.sees('HTTP 500');
    await person.choose('State', 'failing');
    await person.sees('1 webhook');
    await person.gives('return location.hash;', '#/outgoing?state=failing');
    await person.choose('State', 'healthy');
    await person.sees('No webhook matches.');
    await open(server, '#/outgoing?state=off');
    await person.gives(STATES, [`resting ${target.url.slice(7)}resting off`]);
    for (const width of [360, 1280]) {
      await browser.look(width, 900, 'light');
      const { overflow, broken, pale } = await readLook(browser);
      assert.deepEqual([overflow, broken, pale], [0, [], []]);
    }
    assert.deepEqual(await browser.complaints(), []);
  }));

test('a webhook that was turned off says since when and why', { skip }, () =>
  withServer(async (server) => {
    await target.turn('up');
    const id = await makeOutgoing(server, 'by-hand');
    await call(server, 'PATCH', `/api/outgoing-webhooks/${id}`, { enabled: false });
    await open(server, `#/outgoing/${id}`);
    await person.sees(/off\s+for .*: somebody turned it off/);
    await person.click('button', 'Turn on');
    await person.sees('not used yet');
    await person.sees('somebody turned it off', false);
    const gone = await makeOutgoing(server, 'gone', {
      targetUrl: `http://127.0.0.1:${goneTargetPort()}/`, triggerEvent: 'gone.now',
    });
    await open(server, `#/outgoing/${gone}`);
    await person.sees('not used yet');
    // The page says so by itself.
    await call(server, 'POST', '/api/events', { name: 'gone.now', payload: {} });
    await person.sees(/off by a failure\s+for .*: its target is gone \(410\)/);
    await person.sees(/Last failure\s+HTTP 410/);
    await person.find('button', 'Acknowledge');
    await person.find('button', 'Turn on');
    await open(server, '#/');
    await person.sees(/gone[^]*off by a failure[^]*its target answered 410/);
    await open(server, `#/outgoing/${gone}`);
    await person.click('button', 'Acknowledge');
    await person.sees(/off\s+for .*: its target is gone \(410\)[^]*Acknowledged\s+now/);
    await person.sees('off by a failure', false);
    await open(server, '#/');
    await person.sees('None: no webhook fails');
  }));

test('a stranger who is refused makes a webhook rejecting, not failing', { skip }, () =>
  withServer(async (server) => {
    const { identifier: actionConfiguration } = await call(server, 'POST',
      '/api/action-configurations', { actionType: 'log', options: {} });
    const { identifier } = await call(server, 'POST', '/api/incoming-webhooks',
      { pathSegment: 'shop', secret: 'a secret of the shop', actionConfiguration });
    const refuse = (): Promise<unknown> =>
      ask(`${server.url}/webhook/in/shop`, { method: 'POST', body: {} });
    await refuse();
    await open(server, '#/incoming');
    await person.gives(STATES, ['shop no success yet']);
    await open(server, `#/incoming/${String(identifier)}`);
    await person.sees('no success yet');
    // The page says so by itself.
    for (let count = 0; count < 5; count += 1) await refuse();
    await person.sees(/rejecting\s+for/);
    await open(server, '#/');
    await person.sees('1 webhook rejecting most requests');
    await open(server, '#/incoming?state=rejecting');
    await person.gives(STATES, ['shop rejecting']);
    await person.sees('0 %');
  }));
