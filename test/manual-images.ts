/**
 * Makes the pictures of the manual's chapter on the console, of the built program in Chromium:
 * `npm run manual:images`. Whoever changes how a screen looks runs it and looks at them.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
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

await inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const browser = await Browser.open();
  try {
    const request = await seed(server.url);
    await browser.look(1100, 700, 'light');
    const screens = [['overview', '#/'], ['requests', '#/requests'], ['request', request],
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
