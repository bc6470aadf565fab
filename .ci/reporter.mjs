// The reporter of our runs. Of a few files it tells each test, as the spec reporter of node:test
// does. Of more it tells how far the run is, in one line that a terminal rewrites, and the tests that
// fail. Last stand the failing tests, whole, then how many tests were skipped and why, and then the
// runner's own summary. Places are told as those of sources.
import { spec } from 'node:test/reporters';
import { withSourcePlaces } from './source-places.mjs';

const FILES_WITH_TICKS_MAX = 12;
const LINE_MS = 10_000;
const BUNDLE_OTHERS = /-and-(\d+)-others\.mjs$/;
// Of a run with many tests these alone are told, beside its progress.
const TOLD_EVENTS = new Set(['test:fail', 'test:stdout', 'test:stderr']);
const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
const START_OF_LINE = '\r\x1b[K';

const fileCount = Number(process.env.TEST_FILES ?? 0);
const hasTicks = fileCount <= FILES_WITH_TICKS_MAX;

export default async function* report(source) {
  const printer = new spec();
  const progress = new Progress();
  const skips = new Map();
  const summary = [];
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:diagnostic' && data.nesting === 0 && SUMMARY.test(data.message)) {
      summary.push(data.message);
      continue;
    }
    if (type === 'test:pass') noteSkip(skips, data);
    if (hasTicks || TOLD_EVENTS.has(type)) printer.write(event);
    const text = readText(printer);
    if (hasTicks) yield text;
    else yield progress.take(event, text);
  }
  yield progress.end();
  printer.end();
  for await (const text of printer) yield withSourcePlaces(String(text));
  yield `${[...describeSkips(skips), ...summary].map((line) => `ℹ ${line}\n`).join('')}`;
}

function readText(printer) {
  const pieces = [];
  for (let piece = printer.read(); piece !== null; piece = printer.read()) pieces.push(piece);
  return withSourcePlaces(pieces.join(''));
}

/** How many files have begun, and how many tests have failed. */
class Progress {
  #begun = 0;
  #failed = 0;
  #toldMs = -Infinity;
  #isShown = false;

  /** What to print after an event, and after the `text` that tells of it. */
  take({ type, data }, text) {
    // A process of tests is an event of its own, named by its bundle.
    const isBegin = type === 'test:dequeue' && data.name === data.file;
    if (isBegin) this.#begun += 1 + Number(BUNDLE_OTHERS.exec(data.file)?.[1] ?? 0);
    // A test fails at once; that it has failed is reported in the order of the files.
    const isFailure = type === 'test:complete' && data.details?.passed === false
      && data.details.error?.failureType !== 'subtestsFailed';
    if (isFailure) this.#failed += 1;
    const hasChanged = isBegin || isFailure;
    if (!process.stdout.isTTY) return text + (hasChanged ? this.#lineNowAndThen() : '');
    if (!hasChanged && text === '') return '';
    const cleared = this.end();
    this.#isShown = true;
    return cleared + text + this.#line();
  }

  /** Clears the line of a terminal. */
  end() {
    const text = this.#isShown ? START_OF_LINE : '';
    this.#isShown = false;
    return text;
  }

  #lineNowAndThen() {
    if (performance.now() < this.#toldMs + LINE_MS) return '';
    this.#toldMs = performance.now();
    return `${this.#line()}\n`;
  }

  #line() {
    return `file ${this.#begun} of ${fileCount}, ${this.#failed} failed`;
  }
}

function noteSkip(skips, { skip, name }) {
  if (skip === undefined || skip === false) return;
  const reason = typeof skip === 'string' ? skip : 'no reason given';
  skips.set(reason, [...skips.get(reason) ?? [], name]);
}

function describeSkips(skips) {
  const count = [...skips.values()].flat().length;
  if (count === 0) return [];
  return [`${count} skipped:`, ...[...skips].map(([reason, tests]) =>
    `  ${tests.length}, ${reason}: ${tests.join('; ')}`)];
}
