/** Lists of the console: filters that stand in the address, titles that are focused. */
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const HASH = 'return location.hash;';
const at = new ConsoleAtWork();

/** Changes the value of a filter as a control of it does. */
function setFilter(name: string, value: string): string {
  return `const filter = document.querySelector('[name=${name}]');
    filter.value = '${value}';
    filter.dispatchEvent(new Event('input'));`;
}

test('what was being typed when one left is no filter of the next screen', { skip }, async () => {
  const { person, browser } = at;
  await at.open('#/books');
  await person.find('searchbox', 'Search');
  await browser.evaluate(`${setFilter('q', 'emma')} location.hash = '#/log';`);
  await person.find('heading', 'Log');
  // The page's timers end in the order in which they are due.
  await browser.evaluate('return new Promise((after) => setTimeout(after, 300));');
  await person.gives(HASH, '#/log');
});
