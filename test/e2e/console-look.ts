/** What a browser makes of a screen of the console, read in the page itself. */
import type { Browser } from '../support/browser.ts';
import { until } from '../support/until.ts';

export type Look = {
  /** Pixels that the page is wider than the window. */
  readonly overflow: number;
  /** What a finger may miss: controls less than 24 pixels wide or high. */
  readonly small: readonly string[];
  /** Words of names and buttons that are broken in two for want of room. */
  readonly broken: readonly string[];
  /** Text that stands out too little from its ground (WCAG 2.2, 1.4.3). */
  readonly pale: readonly string[];
  /** What the page says that has gone wrong. */
  readonly failures: readonly string[];
  /** Addresses beyond the page's own origin that were loaded. */
  readonly foreign: readonly string[];
  readonly headings: readonly string[];
  /** Elements that no screen makes, so data made them; and text whose direction data turns. */
  readonly planted: number;
  /** How far things have moved by themselves since the page came (the layout shift score). */
  readonly shift: number;
};

/** All that a screen shows at first is there, and nothing more is on its way. */
const READY = `return document.querySelector('main h1') !== null
  && document.querySelector('[aria-busy]') === null
  && ![...document.querySelectorAll('[role=status]')].some((one) => one.innerText === 'Loading…')
  && performance.now() - Math.max(0, ...performance.getEntriesByType('resource')
    .map(({ responseEnd }) => responseEnd)) > 60;`;
const READ = `
  for (const animation of document.getAnimations()) animation.finish();
  const small = [...document.querySelectorAll(
    'button, .button, input, select, textarea, summary, nav a')]
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && (width < 24 || height < 24))
    .map(([element, { width, height }]) => element.outerHTML.slice(0, 80) + width + 'x' + height);
  const broken = [...document.querySelectorAll('dt, thead th, button, label > span, .badge')]
    .flatMap((element) => [...element.childNodes].filter(({ nodeType }) => nodeType === 3))
    .flatMap((node) => [...node.data.matchAll(/\\w{1,24}/g)].filter(({ index, 0: word }) => {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
    })).map(([word]) => word);
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => channels(color).slice(0, 3).map((value) => value / 255)
    .map((value) => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [.2126, .7152, .0722][index], 0);
  const groundOf = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 && element.parentElement !== null
      ? groundOf(element.parentElement) : color;
  };
  const pale = [...document.querySelectorAll('body *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    && element.checkVisibility() && !element.matches(':disabled, script, style, noscript, svg *'))
    .map((element) => {
      const [one, other] = [getComputedStyle(element).color, groundOf(element)].map(luminance);
      const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
      return [ratio, element.outerHTML.slice(0, 100)];
    })
    .filter(([ratio]) => ratio < 4.5).map(String);
  const shifts = await new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => resolve(list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve([]), 20);
  });
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    small, broken, pale,
    failures: [...document.querySelectorAll('.notice.bad, .failure')]
      .map(({ innerText }) => innerText),
    foreign: performance.getEntriesByType('resource').map(({ name }) => name)
      .filter((name) => !name.startsWith(location.origin) && !name.startsWith('blob:')),
    headings: [...document.querySelectorAll('h1')].map(({ innerText }) => innerText),
    planted: document.querySelectorAll('#app script, #app img, #app iframe, #app style').length
      + (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText) ? 1 : 0),
    shift: shifts.filter(({ hadRecentInput }) => !hadRecentInput)
      .reduce((sum, { value }) => sum + value, 0),
  };`;

/** What is to be seen now. */
export async function readLook(browser: Browser): Promise<Look> {
  const look = await browser.evaluate(`return (async () => {${READ}})();`);
  const { overflow, small, broken, pale, failures, foreign, headings, planted, shift }: Look =
    JSON.parse(JSON.stringify(look));
  return { overflow, small, broken, pale, failures, foreign, headings, planted, shift };
}

/** Opens the page anew, with nothing of the screen before, and waits until all is there. */
export async function openScreen(browser: Browser, url: string, hash: string): Promise<Look> {
  await browser.visitAnew(`${url}/console${hash}`);
  await until(`${hash} is there`, async () => await browser.evaluate(READY) === true);
  return readLook(browser);
}
