/** A link with a token in it, as it is sent to somebody: it signs in, and leaves no trace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { makeToken } from '../support/make-token.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

const skip = lacksBrowser;
const browser = Browser.forTests();
const person = new Person(browser);
const FORGET = 'sessionStorage.clear(); return true;';
const KNOWN = "return sessionStorage.getItem('hookshelf-token');";

async function withServer(
  use: (server: Running, tokens: readonly string[], data: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (data) => {
    const tokens = [(await makeToken(data, 'read')).token, (await makeToken(data, 'write')).token];
    const server = await startServer(['--data', data], {
      environment: { HOOKSHELF_LOG_LEVEL: 'debug', HOOKSHELF_LOG_ACCESS: 'all' },
    });
    try {
      await browser.visit(`${server.url}/docs`);
      await browser.evaluate(FORGET);
      await use(server, tokens, data);
    } finally {
      await server.stop();
    }
  });
}

/** The addresses in the history of the tab, without what was typed to come there. */
async function listVisited(): Promise<string> {
  const { entries } = Object(await browser.command('Page.getNavigationHistory', {}));
  return JSON.stringify(entries.map(({ url }: { url: string }) => url));
}

test('a link signs its reader in, and its token stands nowhere after that', { skip }, () =>
  withServer(async (server, [token = '']) => {
    await browser.visit(`${server.url}/console#token=${token}`);
    await person.find('heading', 'Overview');
    await person.gives('return location.hash;', '#/');
    await person.gives(KNOWN, token);
    await person.click('link', 'Requests');
    await person.find('heading', 'Requests');
    const shown = await browser.evaluate(
      'return document.title + document.documentElement.outerHTML + document.referrer;');
    assert.ok(!String(shown).includes(token));
    assert.ok(!(await listVisited()).includes(token));
    // The tab keeps it, and back leads to the overview.
    await browser.command('Page.reload', {});
    await person.find('heading', 'Requests');
    await browser.evaluate('history.back(); return true;');
    await person.find('heading', 'Overview');
    await server.stop();
    assert.match(server.stderr(), /\/api\/access/);
    assert.ok(!server.stderr().includes(token.slice('hookshelf_'.length)));
  }));

test('a tab with another token asks first, also one whose page is open', { skip }, () =>
  withServer(async (server, [token = '', other = '']) => {
    await browser.visit(`${server.url}/console#token=${token}`);
    await person.find('heading', 'Overview');
    await browser.visitAnew(`${server.url}/console#token=${other}`);
    await person.find('button', 'Use the link');
    // Nothing has been asked for meanwhile.
    await person.gives("return performance.getEntriesByType('resource')"
      + ".filter(({ name }) => name.includes('/api/')).length;", 0);
    await person.click('button', 'Stay signed in as I am');
    await person.find('heading', 'Overview');
    await person.gives(KNOWN, token);
    await person.click('link', 'Deliveries');
    await person.find('heading', 'Deliveries');
    await browser.evaluate(`location.hash = '#token=${other}'; return true;`);
    await person.find('button', 'Use the link');
    await person.gives('return location.hash;', '#/deliveries');
    await person.press('Escape');
    await person.gives(KNOWN, token);
    await person.find('heading', 'Deliveries');
    await browser.evaluate(`location.hash = '#token=${other}'; return true;`);
    await person.click('button', 'Use the link');
    await person.find('heading', 'Overview');
    await person.gives(KNOWN, other);
    await person.gives('return location.hash;', '#/');
    // The same token again is no other one.
    await browser.evaluate(`location.hash = '#token=${other}'; return true;`);
    await person.gives('return location.hash;', '#/');
    await person.gives("return document.querySelector('dialog') === null;", true);
    assert.ok(!(await listVisited()).includes(other));
  }));

test('a link that is cut off, or whose token has ended, says so', { skip }, () =>
  withServer(async (server, [token = ''], data) => {
    for (const hash of ['#token=', '#token=a%20b', `#token=${token}&more`]) {
      await browser.visitAnew(`${server.url}/console${hash}`);
      await person.sees('The link holds no whole token.');
      await person.find('textbox', 'API token');
      await person.gives(KNOWN, null);
      await seesNoCommand();
    }
    const { text } = await ask(`${server.url}/api/tokens`,
      { headers: { authorization: `Bearer ${(await makeToken(data, 'admin')).token}` } });
    const { identifier } = JSON.parse(text).find((one: { name: string }) => one.name === 'read');
    await hookshelf(['token:revoke', '--identifier', identifier, '--data', data]);
    await browser.visitAnew(`${server.url}/console#token=${token}`);
    await person.find('textbox', 'API token');
    await person.sees('This token is not known, or not any more.');
    await seesNoCommand();
    // The tab forgets where its token came from, and still keeps the token.
    await browser.visitAnew(`${server.url}/console`);
    await person.sees('This token is not known, or not any more.');
    await seesNoCommand();
    await browser.evaluate(FORGET);
    await browser.visitAnew(`${server.url}/console`);
    await person.sees('hookshelf token:create --name console --scope admin');
  }));

/** Whoever got a link from somebody has no command line. */
async function seesNoCommand(): Promise<void> {
  await person.sees('Ask who sent you the link, or the token, for another one.');
  assert.doesNotMatch(String(await browser.evaluate('return document.body.innerText;')),
    /hookshelf token:create/);
}
