/** `GET /docs` of a real server, looked at in a real browser where there is one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { someOf } from '../support/long.ts';
import { Person } from '../support/person.ts';
import { hasProgram, runShell } from '../support/shell.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { startServer } from './processes.ts';

const browser = Browser.forTests();

/** The first and the last share neither width nor scheme; a long run takes all. */
const SCREENS = someOf([
  { name: 'desktop, light', width: 1280, height: 900, scheme: 'light' },
  { name: 'desktop, dark', width: 1280, height: 900, scheme: 'dark' },
  { name: 'phone, light', width: 360, height: 740, scheme: 'light' },
  { name: 'phone, dark', width: 360, height: 740, scheme: 'dark' },
] as const, 3);

/** What the browser sees: sizes, colours as red-green-blue sums, and what it loaded. */
const LOOK = `
  const brightness = (color) => color.match(/[\\d.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
  const style = getComputedStyle(document.body);
  for (const details of document.querySelectorAll('details')) details.open = true;
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    page: brightness(style.backgroundColor),
    text: brightness(style.color),
    loaded: performance.getEntriesByType('resource')
      .filter(({ name }) => !name.endsWith('/favicon.ico')).length,
    operations: document.querySelectorAll('main .method').length,
    longest: Math.max(...[...document.querySelectorAll('.code pre')]
      .flatMap(({ innerText }) => innerText.split('\\n')).map(({ length }) => length)),
    links: [...document.querySelectorAll('a[href^="#"]')]
      .filter((a) => document.getElementById(a.getAttribute('href').slice(1)) === null)
      .map((a) => a.getAttribute('href')),
    curl: [...document.querySelectorAll('details')]
      .find((one) => /POST\\s*\\/api\\/books\\s*Add/.test(one.innerText))
      .querySelector('pre').innerText,
  };`;

const OPENED = "return document.querySelector('details[open] summary').innerText;";
/** Clicks the first button, and gives what it says and what has been copied, by paste or event. */
const COPY = `
  let copied = '';
  navigator.clipboard.writeText = async (text) => { copied = text; };
  document.querySelector('button.copy').click();
  return new Promise((resolve) => {
    setTimeout(() => resolve(document.querySelector('button.copy').textContent + ':' + copied), 0);
  });`;

/** Whether the page's own policy lets its icon be drawn. */
const DRAW_ICON = `
  const icon = new Image();
  icon.src = document.querySelector('link[rel=icon]').href;
  return icon.decode().then(() => icon.naturalWidth > 0);`;

type Look = {
  readonly overflow: number; readonly page: number; readonly text: number;
  readonly loaded: number; readonly operations: number; readonly links: readonly string[];
  readonly curl: string;
  /** Characters of the longest line of an example. */
  readonly longest: number;
};

test('the page can be read on every screen, light and dark, and its curl lines work', {
  skip: lacksBrowser,
}, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  try {
    let curl = '';
    for (const { name, width, height, scheme } of SCREENS) {
      await browser.look(width, height, scheme);
      await browser.visit(`${server.url}/docs`);
      const look = parseLook(await browser.evaluate(LOOK));
      assert.deepEqual([look.overflow, look.loaded, look.links], [0, 0, []], name);
      // Black is 0 and white 765: enough between them to be read.
      const contrast = scheme === 'light' ? look.page - look.text : look.text - look.page;
      assert.ok(contrast > 450, `${name}: ${contrast}`);
      assert.ok(look.operations > 30, name);
      assert.ok(look.longest < 100, `${look.longest}`);
      assert.deepEqual(await browser.complaints(), [], name);
      assert.ok((await browser.screenshot()).length > 10_000, name);
      ({ curl } = look);
    }
    assert.ok(curl.includes(server.url), curl);
    await browser.visit('about:blank');
    await browser.visit(`${server.url}/docs#schema-BookBody`);
    assert.equal(await browser.evaluate(OPENED), 'BookBody', 'a link opens what it leads to');
    const copied = await browser.evaluate(COPY);
    assert.match(String(copied), /^Copied:curl .*\/api\/books/s, 'a button copies its code');
    assert.deepEqual(await browser.complaints(), []);
    if (hasProgram('curl')) {
      const { stdout } = await runShell(curl);
      const { id } = JSON.parse(stdout);
      assert.equal((await ask(`${server.url}/api/books/${id}`)).status, 200, stdout);
    }
  } finally {
    await server.stop();
  }
}));

test('the manual is found by a word, and can be read on every screen', {
  skip: lacksBrowser,
}, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const person = new Person(browser);
  try {
    for (const { name, width, height, scheme } of SCREENS) {
      await browser.look(width, height, scheme);
      await browser.visit(`${server.url}/docs`);
      await person.fill('searchbox', 'Search the manual', 'nginx');
      await person.press('Enter');
      await person.click('link', 'Running as a service: Behind a reverse proxy');
      await person.find('heading', 'Behind a reverse proxy');
      await person.gives('return location.pathname + location.hash;',
        '/docs/service#behind-a-reverse-proxy');
      for (const chapter of ['service', 'endpoints', 'settings', 'console']) {
        await browser.visit(`${server.url}/docs/${chapter}`);
        const overflow = await browser.evaluate(
          'return document.documentElement.scrollWidth - innerWidth;');
        assert.equal(overflow, 0, `${chapter}, ${name}`);
      }
      assert.deepEqual(await browser.complaints(), [], name);
    }
  } finally {
    await server.stop();
  }
}));

test('a browser at the root comes to the console, and pages draw their icon', {
  skip: lacksBrowser,
}, () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  try {
    await browser.visit(`${server.url}/`);
    assert.equal(await browser.evaluate('return location.pathname;'), '/console');
    assert.equal(await browser.evaluate(DRAW_ICON), true);
    for (const path of ['/docs', '/docs/security']) {
      await browser.visit(server.url + path);
      assert.equal(await browser.evaluate(DRAW_ICON), true, path);
    }
    assert.deepEqual(await browser.complaints(), []);
  } finally {
    await server.stop();
  }
}));

function parseLook(value: unknown): Look {
  assert.ok(typeof value === 'object' && value !== null && 'curl' in value);
  const look = value as Look;
  return look;
}
