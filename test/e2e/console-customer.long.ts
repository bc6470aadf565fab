/** A customer at the console: his own webhooks, what was sent to them, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { startHttpTarget, type HttpTarget } from '../support/http-target.ts';
import { makeBoundToken, makeToken } from '../support/make-token.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { openScreen } from './console-look.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

const skip = lacksBrowser;
const browser = Browser.forTests();
const person = new Person(browser);
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const LOOK = { HOOKSHELF_CONSOLE_TITLE: 'Acme & Sons', HOOKSHELF_CONSOLE_ACCENT: '#ffcc00' };
const COUNT_ROWS = "return document.querySelectorAll('.rows tbody tr[data-key]').length;";

type World = {
  readonly data: string;
  readonly server: Running;
  readonly target: HttpTarget;
  /** Identifiers of webhooks by their names. */
  readonly ids: Readonly<Record<string, string>>;
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Opens the console as who holds such a token. */
  readonly signIn: (scope: 'read' | 'resend' | 'write', ...webhooks: string[]) => Promise<void>;
  readonly signInAsOperator: () => Promise<void>;
  /** Opens the console by the link with such a token. */
  readonly enter: (token: string) => Promise<void>;
  /** Ends the tokens of that name, as commands do. */
  readonly revoke: (name: string) => Promise<void>;
};

/** `acme` works, `acme-eu` fails, `bolt` is somebody else's; each has heard two events. */
async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (data) => {
    const { token } = await makeToken(data, 'admin');
    const target = await startHttpTarget();
    const server = await startServer(['--data', data], { environment: LOOK });
    const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const { status, text } = await ask(server.url + path, {
        method, headers: { authorization: `Bearer ${token}` },
        ...body === undefined ? {} : { body },
      });
      assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
      return text === '' ? null : JSON.parse(text);
    };
    const enter = async (reader: string): Promise<void> => {
      await browser.visit(`${server.url}/docs`);
      await browser.evaluate('sessionStorage.clear(); return true;');
      await browser.visitAnew(`${server.url}/console#token=${reader}`);
      await person.find('heading', 'Overview');
    };
    const ids: Record<string, string> = {};
    for (const [name, path] of [['acme', ''], ['acme-eu', '/500'], ['bolt', '']] as const) {
      const made = await call('POST', '/api/outgoing-webhooks', {
        name, targetUrl: `${target.url}${path}`, triggerEvent: 'order.*', secret: SECRET,
        retrySchedule: [0, 0, 3600],
      });
      ids[name] = String(Object(made).identifier);
    }
    try {
      for (const item of ['tea', 'cake']) {
        await call('POST', '/api/events', { name: 'order.paid', payload: { item } });
      }
      await until('all was tried', () => target.received.length >= 10);
      await use({
        data, server, target, ids, call, enter,
        async revoke(name) {
          const { code, stderr } = await hookshelf(['token:revoke', name, '--data', data]);
          assert.equal(code, 0, stderr);
        },
        async signIn(scope, ...webhooks) {
          await enter((await makeBoundToken(data, scope, ...webhooks)).token);
        },
        signInAsOperator: () => enter(token),
      });
    } finally {
      await server.stop();
      target.close();
    }
  });
}

async function listNames(role: string): Promise<readonly string[]> {
  return (await person.everything()).filter((one) => one.role === role).map(({ name }) => name);
}

test('his overview says what works, what fails since when and why, and what waits', { skip },
  () => inWorld(async ({ signIn }) => {
    await signIn('read', 'acme', 'acme-*');
    await person.sees('Of 2 webhooks 1 fails.');
    await person.sees(/acme-eu\s+127\.0\.0\.1:\d+\/500\s+failing for .*HTTP 500/);
    await person.sees(/acme\s+127\.0\.0\.1:\d+\/?\s+healthy for/);
    await person.sees(/Deliveries that wait\s+2/);
    await person.sees(/In the last hour, counted since \d\d:\d\d/);
    await person.gives('return document.title;', 'Overview – Acme & Sons');
    await person.gives("return document.querySelector('.brand').textContent;", 'Acme & Sons');
    assert.doesNotMatch(String(await browser.evaluate('return document.body.innerText;')), /bolt/);
    await person.click('link', /^acme-eu/);
    await person.find('heading', 'acme-eu');
  }));

test('his overview says until when he has access', { skip }, () =>
  inWorld(async ({ data, enter }) => {
    const { stdout, stderr } = await hookshelf(['token:create', '--name', 'acme', '--scope', 'read',
      '--webhook', 'acme', '--expires', '2d', '--data', data]);
    assert.match(stdout, /^hookshelf_/, stderr);
    await enter(stdout.trim());
    await person.sees(/Your access ends\s+\d+ \w+ 20\d\d, \d\d:\d\d:\d\d, in (48 h|2 days)/);
  }));

test('nothing is said to work to which nothing was sent', { skip }, () =>
  inWorld(async ({ target, signIn, call }) => {
    await call('POST', '/api/outgoing-webhooks',
      { name: 'fresh', targetUrl: target.url, triggerEvent: 'other.*' });
    await signIn('read', 'fresh');
    await person.sees('Nothing has arrived at your webhook yet.');
    await signIn('read', 'acme', 'fresh');
    await person.sees('None of your webhooks fails; at some of them nothing has arrived yet.');
  }));

test('the operator sees for which webhooks each token is, and until when', { skip }, () =>
  inWorld(async ({ server, signIn, signInAsOperator }) => {
    await signIn('resend', 'acme', 'acme-*');
    await signInAsOperator();
    await browser.visitAnew(`${server.url}/console#/settings`);
    await person.sees(/^acme\s+resend\s+acme, acme-\*\s.*\snever\s.*enabled$/m);
    await person.sees(/^admin\s+admin\s+all\s/m);
  }));

test('his menu has three screens, and nothing else is a page', { skip }, () =>
  inWorld(async ({ server, signIn, ids }) => {
    await signIn('write', 'acme', 'acme-*');
    const menu = await browser.evaluate(
      "return [...document.querySelectorAll('header a')].filter((one) => one.checkVisibility())"
      + '.map(({ textContent }) => textContent);');
    assert.deepEqual(menu, ['Acme & Sons', 'Overview', 'Deliveries', 'Webhook']);
    for (const hash of ['#/books', '#/log', '#/settings', '#/requests', '#/events/1', '#/none']) {
      await browser.visitAnew(`${server.url}/console${hash}`);
      await person.find('heading', 'Not here');
      await person.sees(`There is no such page: ${hash}`);
    }
    for (const hash of [`#/outgoing/${ids['bolt']}`, '#/outgoing/bolt', '#/outgoing/new']) {
      await browser.visitAnew(`${server.url}/console${hash}`);
      await person.sees(/there is no outgoing webhook/);
    }
    for (const key of ['b', 'l', 's', 'r', 'e', 'i']) {
      await person.press('g');
      await person.press(key);
    }
    await person.gives('return location.hash;', '#/outgoing/new');
    await person.press('g');
    await person.press('d');
    await person.find('heading', 'Deliveries');
  }));

test('he finds what was sent to him, with body and answer, and has it sent again', { skip }, () =>
  inWorld(async ({ server, target, signIn, call }) => {
    await signIn('resend', 'acme', 'acme-*');
    await person.click('link', 'Deliveries');
    await person.gives(COUNT_ROWS, 4);
    // The list is live, and has what is his alone.
    await call('POST', '/api/events', { name: 'order.paid', payload: { item: 'milk' } });
    await person.gives(COUNT_ROWS, 6);
    await until('it was sent', () => target.received.length >= 15);
    await person.fill('searchbox', 'Search', 'cake');
    await person.gives(COUNT_ROWS, 2);
    await browser.visitAnew(`${server.url}/console#/deliveries?status=delivered&q=cake`);
    await person.gives(COUNT_ROWS, 1);
    await person.click('link', /./);
    await browser.evaluate("document.querySelector('.row-link').click(); return true;");
    await person.sees('answered 200');
    await person.sees(/"item":\s*"cake"/);
    const names = await listNames('button');
    assert.ok(names.includes('Send again') && !names.includes('Cancel it'), String(names));
    const before = target.received.length;
    await person.click('button', 'Send again');
    await person.sees('It is sent again, under the same id.');
    await until('it came again', () => target.received.length === before + 1);
    await browser.visitAnew(`${server.url}/console#/deliveries?hook=acme`);
    await person.gives(COUNT_ROWS, 3);
    await person.click('button', 'Send many again…');
    await person.find('button', 'Send again');
    // A customer has no command line.
    assert.doesNotMatch(String(await browser.evaluate('return document.body.innerText;')),
      /hookshelf |As a command/);
    await person.click('button', 'Send again');
    await until('they came again', () => target.received.length === before + 4);
  }));

test('the page of his one webhook: test, secret, target, and how to verify', { skip }, () =>
  inWorld(async ({ target, signIn, call, ids }) => {
    await signIn('write', 'acme');
    await person.sees('Your webhook works.');
    await person.click('link', 'Webhook');
    await person.find('heading', 'acme');
    assert.ok(!(await listNames('link')).includes('← Webhooks'));
    await person.sees('import { createHmac');
    await person.click('button', 'PHP');
    await person.sees('function isGenuine(array $headers');
    await person.click('button', 'Python');
    await person.sees('def is_genuine(headers');
    assert.ok(!String(await browser.evaluate('return document.body.textContent;'))
      .includes(SECRET));
    const before = target.received.length;
    await person.click('button', 'Send it now');
    await person.sees('It was answered 200');
    assert.equal(target.received.length, before + 1);
    assert.equal(JSON.parse(String(target.received.at(-1)?.body)).type, 'order.created');
    await person.click('button', 'Rotate the secret');
    await person.click('button', 'Make a new secret');
    await person.sees(/whsec_\S+/);
    await person.sees(/The old one counts, too, until /);
    await person.click('button', 'I have it');
    await person.sees('Signed with the old secret too until');
    await person.click('link', 'Edit');
    await person.gives(`const form = document.querySelector('form')?.textContent ?? '';
      return [form.includes('as the server lets'), form.includes('outgoing.')];`, [true, false]);
    const fields = (await person.everything()).filter(({ role }) => role === 'textbox')
      .map(({ name }) => name);
    assert.ok(!fields.some((name) => /Name|Events/.test(name)), String(fields));
    await person.fill('textbox', /^Address/, `${target.url}/204`);
    await person.click('button', 'Save');
    await person.sees('Saved.');
    await person.sees(`${target.url}/204`);
    const { targetUrl, triggerEvent, hasSecret } =
      Object(await call('GET', `/api/outgoing-webhooks/${ids['acme']}`));
    assert.deepEqual([targetUrl, triggerEvent, hasSecret],
      [`${target.url}/204`, 'order.*', true]);
  }));

test('what waits at his webhook he has tried now, if his token may resend', { skip }, () =>
  inWorld(async ({ signIn, target }) => {
    await signIn('read', 'acme-eu');
    await person.click('link', 'Webhook');
    await person.sees(/2 deliveries, the oldest/);
    await person.sees('Try what waits now', false);
    const { length } = target.received;
    await signIn('resend', 'acme-eu');
    await person.click('link', 'Webhook');
    await person.click('button', 'Try what waits now…');
    await person.find('dialog', 'Try 2 deliveries now?');
    await person.click('button', 'Try them now');
    await person.sees('Due now: 2 of 2.');
    await until('both were tried', () => target.received.length >= length + 2);
  }));

test('he switches his webhook off and on, and is told when his token has ended', { skip }, () =>
  inWorld(async ({ signIn, revoke }) => {
    await signIn('resend', 'acme');
    await person.click('link', 'Webhook');
    await person.click('button', 'Turn off');
    await person.sees('Turn the webhook off?');
    await person.click('button', 'Turn it off');
    await person.sees(/off for .*: somebody turned it off/);
    await person.click('link', 'Overview');
    await person.sees('Your webhook is off.');
    await person.click('link', 'Webhook');
    await person.click('button', 'Turn on');
    await person.sees('On again.');
    await revoke('acme');
    await person.click('link', 'Deliveries');
    await person.sees('This token is not known, or not any more.');
    await person.sees('Ask who sent you the link, or the token, for another one.');
  }));

const BUTTONS: readonly (readonly ['read' | 'resend' | 'write', readonly string[]])[] = [
  ['read', []],
  ['resend', ['Send what it has missed…', 'Turn off', 'Send it now']],
  ['write', ['Send what it has missed…', 'Turn off', 'Send it now', 'Edit', 'Rotate the secret']],
];
for (const [scope, expected] of BUTTONS) {
  test(`with the scope ${scope} he sees the buttons that he may press`, { skip }, () =>
    inWorld(async ({ signIn }) => {
      await signIn(scope, 'acme');
      await person.click('link', 'Webhook');
      await person.find('heading', 'acme');
      await person.find('heading', 'How to verify');
      const names = [...await listNames('button'), ...await listNames('link')];
      const all = [...BUTTONS.flatMap(([, some]) => some), 'Delete', 'Turn on'];
      assert.deepEqual([...new Set(all.filter((name) => names.includes(name)))].sort(),
        [...expected].sort());
    }));
}

test('his screens can be read and used at each width, light and dark', { skip }, () =>
  inWorld(async ({ server, signIn, call, ids }) => {
    const deliveries = await call('GET', `/api/deliveries?hook=${ids['acme-eu']}`);
    await signIn('write', 'acme', 'acme-*');
    const hashes = ['#/', '#/deliveries', `#/deliveries/${Object(deliveries)[0].identifier}`,
      '#/outgoing', `#/outgoing/${ids['acme-eu']}`, `#/outgoing/${ids['acme-eu']}/edit`,
      '#/none'];
    for (const width of [320, 390, 1280, 1920]) {
      for (const theme of ['light', 'dark'] as const) {
        await browser.look(width, 900, theme);
        for (const hash of hashes) {
          const { headings, shift, planted: _, ...look } =
            await openScreen(browser, server.url, hash);
          assert.deepEqual(look, {
            overflow: 0, small: [], broken: [], pale: [], failures: [], foreign: [],
          }, `${hash} at ${width} ${theme}`);
          assert.equal(headings.length, 1);
          assert.ok(shift < 0.05, `${hash} at ${width}: ${shift}`);
        }
      }
    }
  }));

test('the keyboard alone is enough for him', { skip }, () => inWorld(async ({ signIn, target }) => {
  await browser.look(1280, 900, 'light');
  await signIn('write', 'acme');
  await person.press('g');
  await person.press('w');
  await person.find('heading', 'acme');
  const before = target.received.length;
  await person.focus('button', 'Send it now');
  await person.press('Enter');
  await person.sees('It was answered 200');
  assert.equal(target.received.length, before + 1);
  await person.press('g');
  await person.press('o');
  await person.find('heading', 'Overview');
  await person.press('?');
  await person.sees('Webhook');
  await person.press('Escape');
}));
