/**
 * Makes the pictures of the manual's chapter on the console, of the built program in Chromium:
 * `npm run manual:images`. Whoever changes how a screen looks runs it and looks at them.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { COLLECTIONS } from '../src/app.ts';
import { silentLogger } from '../src/base/log.ts';
import { createNodeFiles } from '../src/store/disk/files.ts';
import { openStore } from '../src/store/store.ts';
import { Browser } from './support/browser.ts';
import { ask } from './e2e/ask.ts';
import { openScreen } from './e2e/console-look.ts';
import { startServer } from './e2e/processes.ts';
import { inFolder } from './support/temporary-folder.ts';

const BYTES_MAX = 150_000;
const BOOKS = [
  ['Emma', 'Jane Austen', '1815'], ['Middlemarch', 'George Eliot', '1871'],
  ['Moby-Dick; or, The Whale', 'Herman Melville', '1851'], ['Dracula', 'Bram Stoker', '1897'],
  ['Good Omens', 'Terry Pratchett', '1990'],
  ['The Left Hand of Darkness', 'Ursula K. Le Guin', '1969'],
  ['Beloved', 'Toni Morrison', '1987'], ['Kindred', 'Octavia E. Butler', '1979'],
] as const;
const HOUR_MS = 3_600_000;
/** The attempts of five minutes in a busy hour, by total, and how many of a hundred failed. */
const TOTALS = [
  ['requests', 22, 1], ['rejections', 2, 100], ['runs', 22, 2], ['deliveries', 30, 6],
] as const;

await inFolder(async (data) => {
  await seedWeek(data);
  const server = await startServer(['--data', data]);
  const browser = await Browser.open();
  try {
    const request = await seed(server.url);
    await browser.look(1100, 700, 'light');
    const screens = [['overview', '#/?window=7d'], ['requests', '#/requests'], ['request', request],
      ['books', '#/books']] as const;
    for (const [name, hash] of screens) {
      await openScreen(browser, server.url, hash);
      const picture = await browser.screenshot();
      assert.ok(picture.length <= BYTES_MAX, `${name}: ${picture.length} bytes`);
      writeFileSync(`src/manual/console-${name}.png`, picture);
    }
  } finally {
    await browser.close();
    await server.stop();
  }
});

/** The statistics of a week with its days and nights (webhooks/health/webhook-statistics.ts). */
async function seedWeek(directory: string): Promise<void> {
  const store = await openStore({
    directory, files: createNodeFiles(), specs: COLLECTIONS, logger: silentLogger,
  });
  const nowMs = Date.now();
  for (const [total, most, failing] of TOTALS) {
    const firstMs = Math.floor(nowMs / HOUR_MS / 6 - 28) * 6 * HOUR_MS;
    for (let beginMs = firstMs; beginMs < nowMs; beginMs += 6 * HOUR_MS) {
      const values = Array.from({ length: 72 }, (_, index) => {
        const hour = (beginMs + index * HOUR_MS / 12) / HOUR_MS;
        const day = 0.55 + 0.45 * Math.sin((hour - 8) / 24 * 2 * Math.PI);
        const count = Math.round(most * day * (1 + 0.2 * Math.sin(hour * 7)));
        const failed = Math.round(count * failing / 100);
        return [0, count - failed, failed, count * 120];
      });
      const identifier = `${total}.${new Date(beginMs).toISOString().slice(0, 13)}`;
      await store.transact((transaction) => transaction.put('webhook-statistics', identifier,
        JSON.stringify({ identifier, values: values.flat() })));
    }
  }
  await store.close();
}

/** Gives the address of a request that was refused. */
async function seed(url: string): Promise<string> {
  const post = async (path: string, body: unknown): Promise<string> => {
    const { status, text } = await ask(url + path, { method: 'POST', body });
    assert.ok(status < 300, `${path}: ${text}`);
    return String(JSON.parse(text).identifier);
  };
  for (const [title, name, datePublished] of BOOKS) {
    await post('/api/books', { title, authors: [{ name }], datePublished, inLanguage: 'en' });
  }
  const actionConfiguration = await post('/api/action-configurations',
    { actionType: 'log', options: {} });
  for (const pathSegment of ['orders', 'stock']) {
    await post('/api/incoming-webhooks', { pathSegment, inbox: 'all', actionConfiguration });
  }
  const github = await post('/api/incoming-webhooks', {
    pathSegment: 'github', secret: 'a secret of the picture', inbox: 'all', actionConfiguration,
    verification: { preset: 'github' },
  });
  await post('/api/outgoing-webhooks', {
    name: 'warehouse', targetUrl: 'http://127.0.0.1:9/orders', triggerEvent: 'order.*',
  });
  const event = { name: 'order.paid', payload: { number: 7 } };
  for (let count = 0; count < 3; count += 1) {
    assert.equal((await ask(`${url}/api/events`, { method: 'POST', body: event })).status, 202);
  }
  for (let number = 1; number <= 12; number += 1) {
    const place = number % 3 === 0 ? 'stock' : 'orders';
    await ask(`${url}/webhook/in/${place}`, {
      method: 'POST', body: { event: `${place}.changed`, number },
    });
  }
  await ask(`${url}/webhook/in/github`, {
    method: 'POST', body: { action: 'opened', issue: { number: 7 } },
    headers: { 'x-github-event': 'issues', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
  });
  const [{ id }] = JSON.parse((await ask(`${url}/api/requests?hook=${github}`)).text);
  return `#/requests/${String(id)}`;
}
