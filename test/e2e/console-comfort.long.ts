/** Legible charts of the console, fields that stay together, rows that say what they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const at = new ConsoleAtWork();
const DAYS: readonly unknown[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const TOPS = (names: readonly string[]): string => `return ${JSON.stringify(names)}.map((name) =>
  Math.round(document.querySelector('[name="' + name + '"]').getBoundingClientRect().top));`;
const FIRST_CELLS = `return [...document.querySelectorAll('.row-link')].map(({ innerText }) =>
  innerText.split('\\n')[0]);`;

test('the top of the page with “Sign out” has one line, and two on a telephone', { skip },
  async () => {
    const { person, browser } = at;
    try {
      for (const [width, lines] of [[1920, 1], [1280, 1], [390, 2], [320, 2]] as const) {
        await browser.look(width, 900, 'light');
        await at.open('#/');
        await person.find('button', 'Sign out');
        await person.gives(`return new Set([...document.querySelectorAll('.top :is(a, button)')]
          .filter((element) => element.checkVisibility())
          .map((element) => element.getBoundingClientRect())
          .map(({ top, bottom }) => Math.round((top + bottom) / 20))).size;`, lines);
      }
    } finally {
      await browser.look(1280, 900, 'light');
    }
  });

test('the text of charts is legible and whole at every width, and no day is left out', {
  skip,
}, async () => {
  const { person, browser } = at;
  const webhook = await at.make('/api/outgoing-webhooks', { targetUrl: 'http://127.0.0.1:9/' });
  try {
    for (const [width, hash] of [320, 390, 600, 1280, 1920].flatMap((each) =>
      [[each, '#/'], [each, `#/outgoing/${webhook}`]] as const)) {
      await browser.look(width, 900, 'light');
      await at.open(hash);
      await person.click('button', '7 days');
      await person.sees(/(requests|attempts) in each 2 hours/);
      const days = await browser.evaluate(`
        return [...document.querySelector('.times').children].map(({ innerText }) =>
          innerText.slice(0, 3)).filter((name) => name !== '');`);
      assert.ok(Array.isArray(days) && days.length >= 6, String(days));
      const first = DAYS.indexOf(days[0]);
      assert.deepEqual(days, days.map((_, index) => DAYS[(first + index) % 7]), `${width} ${hash}`);
      const texts = await browser.evaluate(`
        return [...document.querySelectorAll('.chart span, .chart text')].map((element) => {
          const { left, right } = element.getBoundingClientRect();
          return [parseFloat(getComputedStyle(element).fontSize),
            left >= 0 && right <= innerWidth];
        });`);
      assert.ok(Array.isArray(texts) && texts.length > 20);
      assert.deepEqual(texts.filter(([size, isWhole]) => size < 11 || !isWhole), [],
        `${width} ${hash}`);
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
});

test('facets stand beside the books where there is room', { skip }, async () => {
  const { person, browser } = at;
  await at.call('POST', '/api/books', { title: 'Emma' });
  const places = `const [facets, table] = ['.facet-row', 'table.rows']
      .map((selector) => document.querySelector(selector).getBoundingClientRect());
    return [facets.right <= table.left, facets.bottom <= table.top];`;
  try {
    for (const [width, expected] of [[1280, [true, false]], [800, [false, true]]] as const) {
      await browser.look(width, 900, 'light');
      await at.open('#/books');
      await person.sees('Emma');
      if (width < 1000) await person.click('button', 'More filters');
      await person.gives(places, expected);
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
});

test('fields that belong together stay on one line', { skip }, async () => {
  const { person, browser } = at;
  try {
    for (const width of [700, 900, 1024, 1280, 1920]) {
      await browser.look(width, 900, 'light');
      for (const [hash, names] of [
        ['#/requests', ['since', 'until']], ['#/books', ['sort', 'as']],
        ['#/books', ['publishedFrom', 'publishedTo']], ['#/books', ['ratingFrom', 'ratingTo']],
        ['#/outgoing', ['sort', 'event']],
      ] as const) {
        await at.open(hash);
        await person.find('combobox', /^(Sort|Status)$/);
        const tops = await browser.evaluate(TOPS(names));
        assert.ok(Array.isArray(tops) && tops[0] === tops[1], `${hash} ${width}: ${String(tops)}`);
      }
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
});

test('a new book begins in its title, and a wrong address says so', { skip }, async () => {
  const { person } = at;
  await at.open('#/books');
  await person.click('link', 'Add a book');
  await person.gives('return document.activeElement.name;', 'title');
  await at.open('#/boks/1');
  await person.sees('There is no such page: #/boks/1');
  await at.open('#/log', 'read');
  await person.sees('This page takes the scope admin; your token has read.');
});

test('a new outgoing webhook begins with its address, and a new incoming one with its sender', {
  skip,
}, async () => {
  for (const [hash, name] of [
    ['#/outgoing/new', 'targetUrl'], ['#/incoming/new', 'verification'],
  ]) {
    await at.open(hash ?? '');
    await at.person.gives(
      "return document.querySelector('form.record :is(input, select, textarea)')?.name;", name);
  }
});

test('a form that the token cannot save is not opened, and says what it takes', { skip },
  async () => {
    for (const [hash, change, scope] of [
      ['#/books/new', 'add books', 'write'], ['#/incoming/new', 'add webhooks', 'admin'],
      ['#/outgoing/new', 'add webhooks', 'admin'], ['#/actions/new', 'add actions', 'admin'],
    ]) {
      await at.open(hash ?? '', 'read');
      await at.person.sees(
        `This token may not ${change}: that takes the scope ${scope}; it has read.`);
      await at.person.gives("return document.querySelector('form') === null;", true);
    }
  });

test('a tablet shows lists as tables, whose columns have room, in one line of menu', { skip },
  async () => {
    const { person, browser } = at;
    try {
      await at.make('/api/outgoing-webhooks',
        { targetUrl: 'http://127.0.0.1:9/tablet', triggerEvent: 'tablet.*' });
      await at.call('POST', '/api/events', { name: 'tablet.turned', payload: {} });
      for (const [width, isTable] of [[768, true], [760, false]] as const) {
        await browser.look(width, 900, 'light');
        await at.open('#/deliveries');
        await person.sees('tablet.turned');
        await person.gives("return document.querySelector('.rows thead').checkVisibility();",
          isTable);
      }
      await browser.look(768, 900, 'light');
      await person.gives(`return new Set([...document.querySelectorAll('nav a')]
        .map((link) => link.getBoundingClientRect().top)).size;`, 1);
    } finally {
      await browser.look(1280, 900, 'light');
    }
  });

test('the row of a request says what it was, and that of an event who heard it', { skip },
  async () => {
    const { person } = at;
    const hook = await at.makeIncoming('told');
    await ask(`${at.url}/webhook/in/told`, { method: 'POST', body: {} });
    await at.open('#/requests?hook=told');
    await person.sees(/POST\s+{}/);
    await at.make('/api/incoming-webhooks', {
      pathSegment: 'refused', secret: 'secret', verification: { preset: 'github' },
      actionConfiguration: (await at.call('GET', `/api/incoming-webhooks/${hook}`))
        ['actionConfiguration'],
    });
    await ask(`${at.url}/webhook/in/refused`, {
      method: 'POST', body: { ref: 'main' }, headers: { 'X-GitHub-Event': 'push' },
    });
    await at.open('#/requests?hook=refused');
    await person.sees(/push\s+{"ref":"main"}\s+rejected\s+no signature\s+401 in/);
    const actionConfiguration = await at.make('/api/action-configurations',
      { actionType: 'http-forward', options: { url: 'http://127.0.0.1:9/' } });
    await at.make('/api/incoming-webhooks', {
      pathSegment: 'stuck', inbox: 'all', answer: 'accepted', retrySchedule: [3600],
      actionConfiguration,
    });
    await ask(`${at.url}/webhook/in/stuck`, { method: 'POST', body: {} });
    await at.open('#/requests?hook=stuck&status=pending');
    await person.sees(/stuck\s+POST\s+{}\s+failing\s+200 in/);
    await at.call('POST', '/api/events', { name: 'told.nobody', payload: {} });
    await at.make('/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'told.heard' });
    await at.call('POST', '/api/events', { name: 'told.heard', payload: {} });
    await at.open('#/events?name=told.*');
    await person.sees(/told\.heard[^]*heard by a webhook/);
  });

test('the page of an incoming webhook shows a request when it comes', { skip }, async () => {
  const { person, browser } = at;
  const id = await at.makeIncoming('coming');
  await at.open(`#/incoming/${id}`);
  await person.sees('None is there.');
  // The page refreshes itself every ten seconds while it is seen: not here.
  await browser.evaluate("Object.defineProperty(document, 'hidden', { value: true });");
  await ask(`${at.url}/webhook/in/coming`, { method: 'POST', body: { came: 1 } });
  await person.sees('{"came":1}');
  await person.find('image', 'Requests: 1 accepted, 0 rejected, 0 failed');
  await person.find('image', 'Runs of actions: 1 succeeded, 0 failed');
});

test('a telephone shows of each delivery and event when it was, its whole name, whose it is and '
  + 'what became of it', { skip }, async () => {
  const { person, browser } = at;
  const name = 'a-customer-with-a-name';
  const event = 'invoice.payment_action_required';
  await at.make('/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:9/', name, triggerEvent: event });
  await at.call('POST', '/api/events', { name: event, payload: {} });
  try {
    await browser.look(320, 900, 'light');
    for (const [hash, texts] of [
      ['#/deliveries', [event, name, /failing|pending/]],
      ['#/events', [event, 'heard by a webhook']],
    ] as const) {
      await at.open(`${hash}?${hash === '#/events' ? 'name' : 'event'}=${event}`);
      for (const text of [/now|ago/, ...texts]) await person.sees(text);
      await person.gives(`return [...document.querySelectorAll('.rows tbody tr[data-key] td')]
        .filter((cell) => cell.checkVisibility() && !cell.matches('.short'))
        .flatMap((cell) => [cell, ...cell.querySelectorAll('span:first-child')])
        .filter((cell) => !cell.matches(':has(.place)') && cell.scrollWidth > cell.clientWidth + 1
          && cell.clientWidth > 0).map(({ innerText }) => innerText);`, []);
    }
  } finally {
    await browser.look(1280, 900, 'light');
  }
});

test('webhooks are searched, sorted, and found by an event', { skip }, async () => {
  const { person } = at;
  for (const [name, triggerEvent] of [
    ['zebra-found', 'found.*'], ['ant-found', 'other.event'], ['elsewhere', 'found.here'],
  ]) await at.make('/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:9/', name, triggerEvent });
  await at.open('#/outgoing');
  await person.fill('searchbox', 'Search', 'found');
  await person.gives(FIRST_CELLS, ['zebra-found', 'ant-found']);
  await person.choose('Sort', 'name');
  await person.gives(FIRST_CELLS, ['ant-found', 'zebra-found']);
  await person.fill('searchbox', 'Hears the event', 'found.here');
  await person.gives(FIRST_CELLS, ['zebra-found']);
  await person.gives('return location.hash;', '#/outgoing?q=found&sort=name&event=found.here');
  await person.fill('searchbox', 'Search', 'nothing');
  await person.sees('No webhook matches.');
  await at.makeIncoming('searched');
  await at.open('#/incoming?q=search');
  await person.gives(FIRST_CELLS, ['searched']);
  await at.isClean();
});
