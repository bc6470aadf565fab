/** The log, settings, cards of books, overview, theme and keys, as a person uses them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { NEXT_FRAME } from '../support/person.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork, HOLD_REQUESTS, RELEASE } from './console-hooks.ts';

const skip = lacksBrowser;
/** Notes the theme as soon as there is a body that could be painted. */
const NOTE_THEME = `new MutationObserver((_, observer) => {
  if (document.body === null) return;
  window.themeAtFirst = document.documentElement.dataset.theme ?? 'none yet';
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;
const at = new ConsoleAtWork();

/** Calls that the webhook at that path writes to the log; gives the last one's request id. */
async function callHook(pathSegment: string, ...texts: readonly string[]): Promise<string> {
  let id = '';
  for (const text of texts) {
    const { status, headers } = await ask(`${at.url}/webhook/in/${pathSegment}`,
      { method: 'POST', body: { text } });
    assert.equal(status, 200);
    id = String(headers['x-request-id']);
  }
  return id;
}

const HASH = 'return location.hash;';

/** Opens the screen anew that the address stands for. */
async function reload(): Promise<void> {
  await at.open(String(await at.browser.evaluate(HASH)));
}

test('lines of the log come by themselves, wait while paused, and are told by level and request',
  { skip }, async () => {
    const { person } = at;
    await at.makeIncoming('quiet', 'info');
    await at.makeIncoming('loud', 'warning');
    await at.open('#/log');
    await person.sees('listening');
    await callHook('quiet', 'first-call');
    await person.sees('first-call');
    await person.click('button', 'Pause');
    await person.sees('paused, 0 new meanwhile');
    await callHook('quiet', 'second-call', 'third-call');
    await person.sees('paused, 2 new meanwhile');
    assert.doesNotMatch(await person.text(), /second-call|third-call/);
    await person.click('button', 'Pause');
    await person.sees(/third-call[^]*second-call[^]*first-call/);
    await person.sees('paused', false);
    const id = await callHook('loud', 'a-warning');
    await person.choose('Level', 'warning');
    await person.sees('first-call', false);
    await person.sees('a-warning');
    await person.gives(HASH, '#/log?level=warning');
    await person.focus('combobox', 'Level');
    await person.press('Home');
    await person.sees('first-call');
    await callHook('loud', 'another-warning');
    await person.fill('searchbox', 'Request id', id);
    await person.sees('another-warning', false);
    await person.sees('a-warning');
    await person.sees(/^1 line$/m);
    await reload();
    await person.sees(/^1 line$/m);
    await person.fill('searchbox', 'Request id', 'unknown');
    await person.sees('No line matches.');
    await at.isClean();
  });

test('a line of the log comes once, however often it was asked for, and leaving is no failure',
  { skip }, async () => {
    const { person, browser } = at;
    await at.makeIncoming('asked', 'info');
    await at.open('#/log');
    await person.sees('listening');
    await browser.evaluate(HOLD_REQUESTS);
    await callHook('asked', 'asked-for-twice');
    for (const pressed of [true, false]) {
      await person.click('button', 'Pause');
      await person.gives(`return document.querySelector('[aria-pressed=${pressed}]') !== null
        && held.length > ${pressed ? 0 : 1};`, true);
    }
    await browser.evaluate(RELEASE);
    await person.sees('asked-for-twice');
    await person.gives('return held.length > 0;', true);
    await person.gives('return document.body.innerText.match(/asked-for-twice/g).length;', 1);
    await browser.evaluate('location.hash = "#/books";');
    await person.find('heading', 'Books');
    await browser.evaluate(RELEASE);
    await person.gives('return held.length > 0;', true);
    await browser.evaluate(RELEASE);
    await person.gives('return document.querySelectorAll(".notice.bad").length;', 0);
  });

test('settings are searched, and tokens stand there with their last use', { skip }, async () => {
  const { person } = at;
  await at.open('#/settings');
  await person.find('heading', 'Tokens');
  await person.sees(/^read\s+read\s.*\snever\s+enabled$/m);
  await person.sees(/^admin\s+admin\s.*\s(now|.* ago)\s+enabled$/m);
  await person.press('/');
  await at.browser.command('Input.insertText', { text: 'MAXBODY' });
  await person.sees('server.maxBodyBytes');
  await person.sees('server.host', false);
  await person.fill('searchbox', 'Search', '--');
  await person.sees(/server\.port\s.*--port/);
  await person.fill('searchbox', 'Search', 'no such setting');
  await person.sees('0 settings');
  await at.isClean();
});

test('a book leads to the others of its author, series and keywords, and keeps what nests', {
  skip,
}, async () => {
  const { person } = at;
  const { id } = await at.call('POST', '/api/books', {
    title: 'Tehanu', authors: [{ name: 'Ursula K. Le Guin', url: 'https://a.test/' }],
    series: [{ name: 'Earthsea', position: 4 }], keywords: ['dragons', 'wizards'],
    image: 'https://a.test/cover.png',
    metadata: {
      series: { name: 'The Earthsea', volume: 3 }, source: {
        goodreads: { Owner: 'me' }, openlibrary: { Owner: 'mine' },
        here: { members: { 'reading.finishedOn': '2024' } },
      },
    },
  });
  await at.open(`#/books/${String(id)}`);
  await person.sees(/series\.name\s+The Earthsea\s+series\.volume\s+3\s+Goodreads: Owner\s+me/);
  await person.sees(/Open Library: Owner\s+mine\s+Set here: Reading, finished\s+2024/);
  await person.sees('Not loaded: console.images is off.');
  await person.find('link', 'https://a.test/');
  for (const [name, hash] of [
    ['Ursula K. Le Guin', '#/books?author=Ursula+K.+Le+Guin'],
    ['Earthsea #4', '#/books?series=Earthsea'], ['wizards', '#/books?keyword=wizards'],
  ] as const) {
    await at.open(`#/books/${String(id)}`);
    await person.click('link', name);
    await person.gives('return location.hash;', hash);
    await person.find('link', 'Tehanu Earthsea #4');
  }
  await at.call('DELETE', `/api/books/${String(id)}`);
});

test('books are sorted, filtered and shown as cards, by an address that can be sent',
  { skip }, async () => {
    const { person, browser } = at;
    for (const [title, name, inLanguage] of [
      ['Emma', 'Jane Austen', 'en'], ['Aus dem Leben', 'Jane Doe', 'de'], ['Zen', 'Bo', 'en'],
    ]) await at.call('POST', '/api/books', { title, authors: [{ name }], inLanguage });
    await at.open('#/books');
    await person.sees(/Zen[^]*Aus dem Leben[^]*Emma/);
    await person.choose('Sort', 'oldest first');
    await person.sees(/Emma[^]*Aus dem Leben[^]*Zen/);
    await person.choose('Sort', 'title, Z');
    await person.sees(/Zen[^]*Emma[^]*Aus dem Leben/);
    await person.fill('searchbox', 'Author', 'jane');
    await person.sees('2 books');
    await person.fill('searchbox', 'Language', 'en');
    await person.sees(/^1 book$/m);
    await person.fill('searchbox', 'Language', '');
    await person.sees('2 books');
    await person.choose('Show as', 'cards');
    const headers = "return document.querySelector('.rows thead')?.checkVisibility();";
    await person.gives(headers, false);
    await person.gives(HASH, '#/books?author=jane&sort=-title&as=cards');
    await reload();
    await person.sees(/2 books[^]*Emma[^]*Jane Austen[^]*Aus dem Leben/);
    await person.gives(headers, false);
    await person.focus('combobox', 'Show as');
    await person.press('Home');
    await person.gives(headers, true);
    await person.click('link', 'Emma');
    await person.find('heading', 'Emma');
    await browser.evaluate('history.back();');
    await person.sees('2 books');
    await person.click('link', 'Emma');
    await person.click('link', '← Books');
    await person.gives(HASH, '#/books?author=jane&sort=-title');
    await at.isClean();
  });

test('a list cuts no ISBN, and on a narrow screen neither a title nor what stands alone in a line',
  { skip }, async () => {
    const { person, browser } = at;
    const cells = (selector: string): string => `const cells = [
      ...document.querySelectorAll('.rows [data-key] ${selector}')];
      return cells.length > 0 && cells.every((cell) => cell.scrollWidth <= cell.clientWidth);`;
    await at.call('POST', '/api/books', {
      title: 'Nineteen Eighty-Four', authors: [{ name: 'George Orwell' }],
      isbn: '9780141036144', datePublished: '2002-12-31',
      reading: { status: 'read', rating: 4.5 },
    });
    await at.open('#/books?q=nineteen');
    await person.gives(cells('td:is(.number, .isbn)'), true);
    await browser.look(320, 800, 'light');
    await person.gives(cells('td:is(.main, [data-title=Reading])'), true);
    await at.make('/api/outgoing-webhooks', {
      name: 'shop', targetUrl: 'http://127.0.0.1:1/hooks', triggerEvents: ['order.paid', 'shop.*'],
    });
    await at.open('#/outgoing?q=shop');
    await person.gives(cells('td[data-title=Events]'), true);
    await browser.look(1280, 900, 'light');
    await at.isClean();
  });

test('cards stand beside each other where there is room, and all are reached', {
  skip,
}, async () => {
  const { person, browser } = at;
  const count = 100;
  for (let number = 1; number <= count; number += 1) {
    await at.call('POST', '/api/books', { title: `Card ${number}`, keywords: ['cards'] });
  }
  try {
    for (const [width, columns] of [[320, 1], [768, 2], [1280, 3]] as const) {
      await browser.look(width, 900, 'light');
      await at.open('#/books?keyword=cards&sort=id&as=cards');
      await person.find('link', 'Card 1');
      await person.gives(`return new Set([...document.querySelectorAll('[data-key]')]
        .map((card) => card.getBoundingClientRect().left)).size;`, columns);
      // Far down, and back to the middle: no card is left out or drawn twice.
      await browser.evaluate('scrollTo(0, document.body.scrollHeight);');
      await person.find('link', `Card ${count}`);
      await browser.evaluate('scrollTo(0, document.body.scrollHeight / 2);');
      await person.find('link', 'Card 50');
      await person.gives(`const names = [...document.querySelectorAll('.row-link')]
        .map(({ innerText }) => Number(innerText.split(' ')[1]));
        return names.every((name, index) => index === 0 || name === names[index - 1] + 1);`, true);
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
  await at.isClean();
});

test('a figure of the overview leads to the list of what it counts', { skip }, async () => {
  const { person } = at;
  await at.makeIncoming('counted');
  await ask(`${at.url}/webhook/in/counted`, { method: 'POST', body: {} });
  await at.open('#/');
  await person.click('link', /^[\d,]+ accepted$/);
  await person.gives(HASH, /^#\/requests\?since=20/);
  await person.sees('counted');
  await at.open('#/');
  await person.click('link', /^[\d,]+ rejected$/);
  await person.gives(HASH, /^#\/requests\?status=rejected&since=20/);
});

test('the page of an incoming webhook has its last requests, and what its action does in words', {
  skip,
}, async () => {
  const { person } = at;
  const actionConfiguration = await at.make('/api/action-configurations', {
    actionType: 'http-forward',
    options: { url: 'http://127.0.0.1:9/builds', exposeResponse: true, passAuthorization: false },
  });
  const id = await at.make('/api/incoming-webhooks',
    { pathSegment: 'builds', actionConfiguration });
  await at.open(`#/incoming/${id}`);
  await person.sees('None is there. It keeps requests whose action failed.');
  await person.sees('Forward to a URL: http://127.0.0.1:9/builds, Expose response, for every');
  await ask(`${at.url}/webhook/in/builds`, { method: 'POST', body: { ref: 'main' } });
  await person.sees(/POST\s+{"ref":"main"}\s+failed\s+400 in/);
});

test('a click on a row counts, though the list comes anew meanwhile', { skip }, async () => {
  const { person, browser } = at;
  for (const title of ['A Sicilian Romance', 'Udolpho']) {
    await at.call('POST', '/api/books', { title, authors: [{ name: 'Ann Radcliffe' }] });
  }
  await at.open('#/books?author=radcliffe&as=cards');
  await person.find('link', 'Udolpho');
  await browser.evaluate(HOLD_REQUESTS);
  await person.focus('combobox', 'Show as');
  await person.press('Home');
  await person.gives('return held.length;', 1);
  await person.clickSlowly('link', 'Udolpho', async () => {
    await browser.evaluate(RELEASE);
    await person.gives("return document.querySelector('main [aria-busy]') === null;", true);
    await browser.evaluate(NEXT_FRAME);
  });
  await person.gives(HASH, /^#\/books\/[^?]/);
  await at.isClean();
});

test('a refresh of the overview reads the plots of a day anew, and those of a week later', { skip },
  async () => {
    const { person, browser } = at;
    const countReads = (path: string): string => `return performance.getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('${path}')).length;`;
    await at.open('#/deliveries');
    await browser.evaluate(`performance.clearResourceTimings();
      const repeat = window.setInterval;
      window.setInterval = (run, ms) => {
        window.refresh = run;
        return repeat(() => {}, ms);
      };
      location.hash = '#/?window=7d';`);
    await person.sees('requests in each 2 hours');
    const count = async (path: string): Promise<number> =>
      Number(await browser.evaluate(countReads(path)));
    const [weekReads, refreshes] =
      [await count('/history?window=7d'), await count('/api/nodes')];
    await browser.evaluate('window.refresh();');
    await person.gives(countReads('/api/nodes'), refreshes + 1);
    await person.gives(countReads('/history?window=7d'), weekReads);
    await person.click('button', '24 hours');
    await person.sees('requests in each 30 minutes');
    const dayReads = await count('/history?window=24h');
    await browser.evaluate('window.refresh();');
    await person.gives(countReads('/history?window=24h'), dayReads + 1);
    await person.click('button', '7 days');
    await person.sees('requests in each 2 hours');
    await person.gives(countReads('/history?window=7d'), weekReads + 1);
    await at.isClean();
  });

test('the overview changes its window, keeps it, and leads to what it counts', { skip },
  async () => {
    const { person, browser } = at;
    const pressed = "return document.querySelector('main [aria-pressed=true]')?.textContent;";
    await at.open('#/');
    await person.sees('requests in each 5 minutes');
    await person.click('button', '24 hours');
    await person.sees('requests in each 30 minutes');
    await reload();
    await person.sees('requests in each 30 minutes');
    await person.gives(pressed, '24 hours');
    await person.click('button', '1 hour');
    await person.sees('requests in each 5 minutes');
    await person.gives(pressed, '1 hour');
    await person.gives(HASH, /^(?!.*window)/);
    await person.gives(
      "return [...document.querySelectorAll('main dd a')].map(({ hash }) => hash).slice(0, 3);",
      ['#/deliveries?status=pending', '#/requests?status=pending', '#/requests?status=failed']);
    await browser.evaluate("document.querySelectorAll('main dd a')[2].focus();");
    await person.press('Enter');
    await person.find('heading', 'Requests');
    await person.gives("return document.querySelector('[name=status]')?.value;", 'failed');
    await browser.evaluate('history.back();');
    await person.find('heading', 'Overview');
    await at.isClean();
  });

test('a theme that was chosen is there before anything is painted', { skip }, async () => {
  const { person, browser } = at;
  await browser.command('Page.addScriptToEvaluateOnNewDocument', { source: NOTE_THEME });
  const first = 'return window.themeAtFirst;';
  const scheme = 'return getComputedStyle(document.documentElement).colorScheme;';
  await at.open('#/');
  await person.click('button', 'Theme: System');
  await person.gives(first, 'system');
  for (const [theme, next] of [['Light', 'dark'], ['Dark', 'system']] as const) {
    await at.open('#/');
    await person.find('button', `Theme: ${theme}`);
    await person.gives(first, theme.toLowerCase());
    await person.gives(scheme, theme.toLowerCase());
    await person.click('button', `Theme: ${theme}`);
    await person.gives('return document.documentElement.dataset.theme;', next);
  }
  await at.isClean();
});

test('the keys are told by their button, and lead where they say', { skip }, async () => {
  const { person } = at;
  await at.open('#/');
  await person.click('button', 'Keys');
  await person.find('dialog', 'Keys');
  for (const text of [/\/\s+search/, /g\s+l\s+Log/, /g\s+s\s+Settings/, /Esc\s+close/]) {
    await person.sees(text);
  }
  await person.click('button', 'Close');
  await person.sees('send a form', false);
  for (const [key, title] of [['l', 'Log'], ['s', 'Settings'], ['i', 'Incoming webhooks'],
    ['r', 'Requests'], ['d', 'Deliveries'], ['b', 'Books']] as const) {
    await person.press('g');
    await person.press(key);
    await person.find('heading', title);
  }
  await person.press('/');
  await person.press('?');
  await person.find('combobox', 'Search');
  assert.doesNotMatch(await person.text(), /send a form/);
});
