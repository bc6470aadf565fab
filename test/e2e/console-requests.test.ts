/** The requests of the console, used as a person does, in a real browser against a real server. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { aroundTests } from '../support/around-tests.ts';
import { Browser, hasBrowser, lacksBrowser } from '../support/browser.ts';
import { answer, startServer as startTarget } from '../support/servers.ts';
import { Person } from '../support/person.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import type { Reply } from './ask.ts';
import { startServer } from './processes.ts';
import type { Running } from './processes.ts';

const skip = lacksBrowser;
/** Of a list that is longer than its first pages. */
const MANY = 1200;
const CALLS = 16;
/** The rows that are made, and where one is on the screen. */
const ROWS = `const rows = [...document.querySelectorAll('tr[data-key]')];
  const topOf = (row) => row && Math.round(row.getBoundingClientRect().top);`;
const SCRIPT = '<script>window.hacked = true</script>';
const BIDI = '\u202egnp.exe\u2066';

const directory = createTemporaryFolder();
const browser = Browser.forTests();
const person = new Person(browser);
let server: Running;

aroundTests(async () => {
  if (!hasBrowser) return;
  server = await startServer(['--data', directory]);
  await browser.look(1280, 900, 'light');
  const actionConfiguration = await make('/api/action-configurations',
    { actionType: 'log', options: {} });
  const inbox = 'all';
  await make('/api/incoming-webhooks', {
    pathSegment: 'github', secret: 'the secret', verification: { preset: 'github' }, inbox,
    actionConfiguration,
  });
  for (const pathSegment of ['plain', 'many', 'back']) {
    await make('/api/incoming-webhooks', { pathSegment, inbox, actionConfiguration });
  }
  await make('/api/incoming-webhooks', { pathSegment: 'routed', inbox, routes: [
    { name: 'first', actionConfiguration }, { name: 'second', actionConfiguration },
  ] });
}, async () => {
  // There is none when it did not start.
  await server?.stop();
});

function make(path: string, body: object): Promise<string> {
  return addRecord(server.url + path, body);
}

/** As GitHub would send it, with that secret. */
function sendFromGithub(secret: string, id: string, hook = 'github'): Promise<Reply> {
  const raw = JSON.stringify({ id });
  const mac = createHmac('sha256', secret).update(raw).digest('hex');
  return ask(`${server.url}/webhook/in/${hook}`, { method: 'POST', raw, headers: {
    'X-Hub-Signature-256': `sha256=${mac}`, 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': id,
    'Content-Type': 'application/json',
  } });
}

async function send(hook: string, body: unknown, query = ''): Promise<void> {
  const { status, text } = await ask(`${server.url}/webhook/in/${hook}${query}`,
    { method: 'POST', body });
  assert.equal(status, 200, text);
}

async function sendMany(hook: string, count: number): Promise<void> {
  let left = count;
  await Promise.all(Array.from({ length: CALLS }, async () => {
    while (left > 0) {
      left -= 1;
      await send(hook, { left });
    }
  }));
}

async function open(hash: string): Promise<void> {
  await browser.visitAnew(`${server.url}/console${hash}`);
}

test('one finds out why a request was refused, and mends it until it is accepted', { skip },
  async () => {
    assert.equal((await sendFromGithub('another secret', 'refused')).status, 401);
    await open('#/requests');
    await person.choose('Status', 'rejected');
    await person.sees('1 request');
    await person.sees('a restart forgets them');
    await person.sees('calls of no webhook');
    await person.click('button', 'Send many again…');
    await person.sees('Of rejected requests, each is sent again by itself.');
    await person.click('link', /now|ago/);
    await person.sees('It would be refused');
    await person.sees(/failed\s*mismatch/);
    await person.sees('Give the webhook the secret that the sender has.');
    // The names of the checks stand below each other, however long the words before them are.
    assert.equal(await browser.evaluate(`return new Set([...document.querySelectorAll(
      '.log .message')].map((one) => Math.round(one.getBoundingClientRect().left))).size;`), 1);
    await person.click('link', 'Edit the webhook');
    await person.find('textbox', 'Secret');
    const { text } = await ask(`${server.url}/api/incoming-webhooks`);
    const hooks: { pathSegment: string; identifier: string }[] = JSON.parse(text);
    const hook = hooks.find(({ pathSegment }) => pathSegment === 'github');
    await ask(`${server.url}/api/incoming-webhooks/${hook?.identifier}`, {
      method: 'PATCH', body: { secret: 'another secret' },
    });
    await browser.evaluate('history.back();');
    await person.sees('It would be accepted.');
    await person.click('button', 'Send again…');
    await person.sees(/It was refused: wrong signature\..*without that check/);
    await person.sees('As a new one', false);
    await person.click('button', 'Send again');
    await person.sees('Again after');
    await person.find('button', 'Pin');
    assert.equal((await sendFromGithub('another secret', 'accepted')).status, 200);
    await open('#/requests?hook=github');
    await person.sees('3 requests');
    await person.fill('searchbox', 'Event id', 'accepted');
    await person.sees('1 request\n');
  });

test('one is told the usual mistake that explains a signature first', { skip }, async () => {
  await make('/api/incoming-webhooks', {
    pathSegment: 'mistaken', secret: 'the secret', verification: { preset: 'github' },
    inbox: 'all', actionConfiguration: await make('/api/action-configurations',
      { actionType: 'log' }),
  });
  assert.equal((await sendFromGithub('the secret ', 'space', 'mistaken')).status, 401);
  await open('#/requests?hook=mistaken&status=rejected');
  await person.click('link', /now|ago/);
  await person.sees('It would be refused, but would match if the secret ended in a space.');
  await person.sees('Give the webhook the secret that the sender has.', false);
  await person.find('link', 'Edit the webhook');
});

test('one sees of a removed webhook the path that its requests called', { skip }, async () => {
  const identifier = await make('/api/incoming-webhooks', {
    pathSegment: 'leaving', inbox: 'all',
    actionConfiguration: await make('/api/action-configurations', { actionType: 'log' }),
  });
  await send('leaving', {});
  await ask(`${server.url}/api/incoming-webhooks/${identifier}`, { method: 'DELETE' });
  await open('#/requests');
  await person.sees(/\/webhook\/in\/leaving/);
  await person.sees(`…${identifier.slice(-8)}`, false);
});

test('one sees where a forward went that failed, and what came back', { skip }, async () => {
  const target = await startTarget({
    onRequest: ({ socket }) => void socket.write(answer(503, 'database is down')),
  });
  const place = target.url('/orders');
  const actionConfiguration = await make('/api/action-configurations',
    { actionType: 'http-forward', options: { url: `${place}?token=planted` } });
  await make('/api/incoming-webhooks',
    { pathSegment: 'forwarding', inbox: 'all', actionConfiguration });
  const { status } = await ask(`${server.url}/webhook/in/forwarding`,
    { method: 'POST', body: { a: 1 } });
  assert.equal(status, 400);
  await target.close();
  await open('#/requests?hook=forwarding');
  await person.click('link', /now|ago/);
  for (const page of ['request', 'delivery']) {
    await person.sees('The upstream answered 503');
    await person.sees(`POST ${place}?token=***`);
    await person.sees('database is down');
    if (page === 'request') await person.click('link', 'The delivery of route default');
  }
});

test('one finds out why no route took a request', { skip }, async () => {
  const actionConfiguration = await make('/api/action-configurations', { actionType: 'log' });
  await make('/api/incoming-webhooks', { pathSegment: 'filtering', inbox: 'all', routes: [{
    name: 'main', actionConfiguration, when: { path: 'payload.ref', op: 'eq', value: 'main' },
  }] });
  await send('filtering', { ref: 'dev' });
  await open('#/requests?hook=filtering');
  await person.click('link', /now|ago/);
  await person.sees(
    'It would be accepted, but no route takes it: payload.ref is "dev", wanted: eq "main".');
});

test('the list is live, can be held still, and is filtered by its address', { skip }, async () => {
  await send('plain', { first: true });
  await open('#/requests?hook=plain');
  await person.sees('1 request\n');
  await send('plain', {});
  await person.sees('2 requests');
  await person.click('button', 'Pause');
  await send('plain', {});
  await send('plain', {});
  await send('routed', {});
  await person.click('button', 'Resume: 2 came meanwhile');
  await person.sees('4 requests');
  await person.find('button', 'Pause');
  await person.choose('Status', 'failed');
  await person.sees('No request matches.');
  await person.gives('return location.hash;', /hook=plain&status=failed$/);
  await person.focus('combobox', 'Status');
  await person.press('Home');
  await person.sees('4 requests');
});

test('a request is sent again by one of its routes, and as a new one', { skip }, async () => {
  await open('#/requests?hook=routed');
  await person.click('link', /now|ago/);
  await person.find('heading', /first done/);
  await person.click('button', 'Send again…');
  await person.click('checkbox', 'second');
  await person.click('DisclosureTriangle', 'As a command');
  await person.sees(/request:replay \S+ --as retry --routes second/);
  await person.click('button', 'Send again');
  await person.sees('It runs again.');
  await person.click('button', 'Send again…');
  await person.click('radio', /^As a new one/);
  await person.click('button', 'Send again');
  await person.sees('It runs again, as a new request.');
  await person.sees('Again after');
});

test('a request is pinned, compared with one from a list, copied and deleted', { skip },
  async () => {
    await send('plain', { same: 1, order: { id: 7 } });
    await send('plain', { same: 1, order: { id: 8 } });
    await open('#/requests?hook=plain');
    await person.click('link', /now|ago/);
    await person.click('button', 'Pin');
    await person.click('button', 'Unpin');
    await person.find('button', 'Pin');
    await person.click('button', 'Compare…');
    await person.click('link', /20\d\d/);
    await person.sees(/body\.order\.id\s+8\s+7/);
    await person.sees('body.same', false);
    await person.click('button', 'Copy as curl');
    await person.find('button', 'Copied');
    const line = await browser.evaluate('return navigator.clipboard.readText();');
    assert.match(String(line), /curl -g -X POST 'http:.*\/webhook\/in\/plain'/);
    await person.click('button', 'Hex');
    await person.sees('000000  7b 22 73 61 6d 65');
    await person.click('button', 'Delete');
    await person.sees('What came in, and what was done with it, will be gone.');
    await person.click('button', 'Delete it');
    await person.find('heading', 'Requests');
  });

test('a long list scrolls to its end, keeps its place, and is walked by keys', { skip },
  async () => {
    await sendMany('many', MANY);
    await open('#/requests?hook=many');
    await person.sees('1,200 requests');
    // The page grows when the first rows are there, and when more are read.
    await person.gives(`scrollTo(0, document.documentElement.scrollHeight);
      ${ROWS} return rows.at(-1)?.ariaRowIndex;`, String(MANY + 1));
    await person.gives(`${ROWS} return rows.length < 100;`, true);
    await browser.evaluate('scrollTo(0, 40000);');
    await person.gives(`${ROWS} return topOf(rows[0]) < 0 && topOf(rows.at(-1)) > innerHeight;`,
      true);
    const [key, top] = [...Object(await browser.evaluate(
      `${ROWS} return [rows[20].dataset.key, topOf(rows[20])];`))];
    await sendMany('many', 3);
    await person.sees('1,203 requests');
    await person.gives('return document.querySelector("table.rows").ariaRowCount;',
      String(MANY + 4));
    await person.gives(`${ROWS} return topOf(rows.find((row) => row.dataset.key === "${key}"));`,
      top);
    await browser.evaluate(`document.querySelector('tr[data-key="${key}"] a').focus();`);
    await person.press('ArrowDown');
    await person.press('Enter');
    await person.find('button', 'Send again…');
    await browser.evaluate('history.back();');
    await person.sees('1,203 requests');
    await person.gives('return scrollY > 30_000;', true);
  });

test('what is hostile stays text, and breaks no layout at 360 pixels', { skip }, async () => {
  const query = `?q=${encodeURIComponent(SCRIPT + BIDI)}`;
  await ask(`${server.url}/webhook/in/plain${query}`, {
    method: 'POST', raw: `{"${SCRIPT}":"${'x'.repeat(1 << 19)}"}`,
    headers: { 'content-type': 'application/json', 'x-script': SCRIPT, 'x-long': 'h'.repeat(4000) },
  });
  await browser.look(360, 800, 'dark');
  await open('#/requests?hook=plain');
  await person.click('link', /now|ago/);
  await person.sees('x-script');
  await person.click('button', 'Raw');
  await person.sees(SCRIPT);
  await person.sees('The rest is left out here: download it.');
  await person.gives(
    'return [window.hacked ?? 0, document.documentElement.scrollWidth - innerWidth];', [0, 0]);
  assert.deepEqual(await browser.complaints(), []);
  await browser.look(1280, 900, 'light');
});

test('a request that no payload could be made of says so, and what would fit', { skip },
  async () => {
    await ask(`${server.url}/webhook/in/plain`,
      { method: 'POST', raw: 'a=1&b=2', headers: { 'content-type': 'text/plain' } });
    await open('#/requests?hook=plain');
    await person.click('link', /now|ago/);
    await person.sees('none: actions got []. The body format "form" would fit');
  });

test('a slow server leaves a screen that says that it is loading', { skip }, async () => {
  const conditions = (latency: number): Promise<unknown> =>
    browser.command('Network.emulateNetworkConditions',
      { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 });
  await open('#/deliveries');
  await person.find('heading', 'Deliveries');
  await browser.command('Network.enable', {});
  await conditions(1000);
  await browser.evaluate('location.hash = "#/requests";');
  await person.find('heading', 'Requests');
  await person.sees('Loading…');
  await conditions(0);
  await person.sees(/[\d,]+ requests/);
});

test('a server that goes and comes back is told of, and heals by itself', { skip }, async () => {
  await send('back', {});
  await open('#/requests?hook=back');
  await person.sees('1 request');
  const { port } = new URL(server.url);
  await server.stop();
  await person.sees('The connection to the server is lost.');
  server = await startServer(['--data', directory, '--port', port]);
  await person.sees('The connection to the server is lost.', false);
  await send('back', {}, '?back=1');
  await person.sees('2 requests');
  await person.click('link', /now|ago/);
  await person.find('heading', /back=1/);
});
