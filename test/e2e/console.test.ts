/** `GET /console` of a real server in a real browser: every screen, as anybody may see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { IS_LONG } from '../support/long.ts';
import { Person } from '../support/person.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { openScreen, readLook } from './console-look.ts';
import type { Look } from './console-look.ts';
import { seedHostile } from './console-seed.ts';
import { startServer, type Running } from './processes.ts';

const skip = lacksBrowser;
const LISTS = [
  '#/', '#/books', '#/books?as=cards', '#/books?q=hostile&sort=-title&typos=off',
  '#/books/duplicates?by=title', '#/books/new', '#/books/import', '#/incoming',
  '#/incoming/new', '#/actions', '#/actions/new', '#/requests', '#/outgoing', '#/events',
  '#/deliveries', '#/deliveries?kind=all&where=payload.id%3D1', '#/log', '#/settings',
  '#/settings/configuration', '#/nowhere',
];
/** Roles of what people use; each needs a name (WCAG 2.2, 4.1.2). */
const NAMED = new Set([
  'button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'spinbutton',
  'listbox', 'dialog', 'navigation', 'heading', 'progressbar', 'DisclosureTriangle',
]);
const SHIFT_MAX = 0.1;

/** Beside 360 pixels, dark; the last shares neither with it, and a long run takes all. */
const LOOKS = [[360, 'light'], [1280, 'dark'], [1280, 'light']] as const;

const browser = Browser.forTests();
const person = new Person(browser);

function inConsole(use: (server: Running) => Promise<void>): Promise<void> {
  return inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    try {
      await use(server);
    } finally {
      await server.stop();
    }
  });
}

function assertGood(look: Look, name: string): void {
  const { overflow, small, broken, pale, failures, foreign, planted, headings } = look;
  assert.deepEqual([overflow, small, broken, pale, failures, foreign, planted, headings.length],
    [0, [], [], [], [], [], 0, 1], `${name}: ${JSON.stringify(look)}`);
}

test('every screen can be read and used at each width, light and dark, whatever is stored', {
  skip,
}, (t: TestContext) => inConsole(async (server) => {
  const records = await seedHostile(server.url);
  await openScreen(browser, server.url, '#/');
  const paintedMs = await browser.evaluate(
    "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null;");
  t.diagnostic(`first contentful paint after ${Math.round(Number(paintedMs))} ms`);
  for (const hash of [...LISTS, ...records]) {
    await browser.look(360, 740, 'dark');
    const first = await openScreen(browser, server.url, hash);
    assertGood(first, `${hash}, 360, dark`);
    assert.ok(first.shift < SHIFT_MAX, `${hash} moves by ${first.shift}`);
    for (const [width, scheme] of IS_LONG ? LOOKS : LOOKS.slice(2)) {
      await browser.look(width, 800, scheme);
      assertGood(await readLook(browser), `${hash}, ${width}, ${scheme}`);
    }
    const nameless = (await person.everything())
      .filter(({ role, name }) => NAMED.has(role) && name.trim() === '');
    assert.deepEqual(nameless, [], hash);
    const complaints = (await browser.complaints())
      .filter((text) => !text.includes('"source":"recommendation"'));
    assert.deepEqual(complaints, [], hash);
    assert.equal(await browser.evaluate('return window.hacked ?? null;'), null, hash);
  }
}));

test('no list moves when its answers come late', { skip }, () => inConsole(async (server) => {
  await seedHostile(server.url);
  await browser.look(360, 740, 'dark');
  await browser.command('Network.enable', {});
  const late = { offline: false, downloadThroughput: -1, uploadThroughput: -1 };
  await browser.command('Network.emulateNetworkConditions', { ...late, latency: 300 });
  for (const hash of LISTS.filter((one) => /^#\/(deliveries|events|requests)/.test(one))) {
    const { shift } = await openScreen(browser, server.url, hash);
    assert.ok(shift < SHIFT_MAX, `${hash} moves by ${shift}`);
  }
  await browser.command('Network.emulateNetworkConditions', { ...late, latency: 0 });
}));

test('the theme can be chosen and is kept, motion is left out, and twice the zoom fits', {
  skip,
}, () => inConsole(async (server) => {
  const ground = 'return getComputedStyle(document.body).backgroundColor;';
  await browser.look(640, 400, 'light');
  for (const hash of ['#/', '#/requests', '#/settings', '#/books/new']) {
    assert.equal((await openScreen(browser, server.url, hash)).overflow, 0, hash);
  }
  const light = await browser.evaluate(ground);
  await person.click('button', 'Theme: System');
  await person.click('button', 'Theme: Light');
  await person.find('button', 'Theme: Dark');
  const dark = await browser.evaluate(ground);
  assert.notEqual(dark, light);
  await openScreen(browser, server.url, '#/');
  await person.gives(ground, dark);
  await person.click('link', 'Docs');
  await person.find('link', 'Models');
  // The reference has the same colours.
  await person.gives(ground, dark);
  await openScreen(browser, server.url, '#/');
  await browser.command('Emulation.setEmulatedMedia',
    { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] });
  assert.deepEqual(await browser.evaluate(`
    return [...document.querySelectorAll('button, a')].map((one) => getComputedStyle(one))
      .map((style) => style.transitionDuration + style.animationName)
      .filter((text) => text !== '0snone');`), []);
}));
