/** When suggestions are asked for and shown; elements are stand-ins, as Node has no DOM. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { compile } from '../../../support/compile.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { someTurns } from '../../../support/turns.ts';

/** What the functions under test use of an element. */
class Element {
  children: Element[] = [];
  value = '';
  hidden = false;
  readonly #listeners = new Map<string, (event: object) => void>();

  append(child: Element): void { this.children.push(child); }
  replaceChildren(): void { this.children = []; }
  setAttribute(): void {}
  removeAttribute(): void {}
  scrollIntoView(): void {}
  addEventListener(name: string, listener: (event: object) => void): void {
    this.#listeners.set(name, listener);
  }

  send(name: string, event: object = {}): void { this.#listeners.get(name)?.(event); }
}

type Suggestions = { readonly element: Element };
type SuggestionsModule = {
  readonly SearchSuggestions: new (input: Element, onChoose: (text: string) => void) => Suggestions;
};

/** The texts for which suggestions were asked, and how to answer each, in whatever order. */
const server = { texts: [] as string[], answers: [] as ((response: Response) => void)[] };

Object.assign(globalThis, {
  Node: Element,
  document: { createElement: () => new Element() },
  location: { pathname: '/console' },
  sessionStorage: { getItem: () => null },
  // An answer comes although the request was given up: it may have been there already.
  fetch: (path: string): Promise<Response> => {
    server.texts.push(new URLSearchParams(path.split('?')[1]).get('q') ?? '');
    return new Promise((resolve) => void server.answers.push(resolve));
  },
});
const { SearchSuggestions }: SuggestionsModule = await import(
  compile('src/console/screens/books/search-suggestions.ts', createTemporaryFolder()));

/** A field in which texts are typed, with so many milliseconds after each. */
async function type(
  ...typed: readonly (readonly [text: string, waitMs: number])[]
): Promise<{ readonly input: Element; readonly list: Element }> {
  Object.assign(server, { texts: [], answers: [] });
  const input = new Element();
  const { element: list } = new SearchSuggestions(input, () => {});
  for (const [text, waitMs] of typed) {
    input.value = text;
    input.send('input');
    mock.timers.tick(waitMs);
  }
  await someTurns(5);
  return { input, list };
}

async function answer(index: number, count: number): Promise<void> {
  const value = { member: 'title', value: 'x', count: 1 };
  server.answers[index]?.(Response.json(Array.from({ length: count }, () => value)));
  await someTurns(10);
}

const withTimers = (run: () => Promise<void>) => async (): Promise<void> => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await run();
  } finally {
    mock.timers.reset();
  }
};

test('the server is asked when typing stops, but for no empty text', withTimers(async () => {
  await type(['h', 100], ['ha', 100], ['har', 200], ['  ', 1000]);
  assert.deepEqual(server.texts, ['har']);
}));

test('a late answer for an earlier text is dropped', withTimers(async () => {
  const { list } = await type(['ha', 200], ['har', 200]);
  assert.deepEqual(server.texts, ['ha', 'har']);
  await answer(1, 2);
  await answer(0, 5);
  assert.equal(list.children.length, 2);
  assert.equal(list.hidden, false);
}));

test('an answer for a text that was changed since is dropped', withTimers(async () => {
  const { list } = await type(['ha', 200], ['har', 0]);
  await answer(0, 5);
  assert.equal(list.hidden, true);
}));

for (const [name, send] of [
  ['the field is left', (input: Element) => input.send('blur')],
  ['Enter is pressed', (input: Element) => input.send('keydown', { key: 'Enter' })],
] as const) {
  test(`no list opens after ${name}`, withTimers(async () => {
    const { input, list } = await type(['ha', 200]);
    send(input);
    await answer(0, 3);
    assert.equal(list.hidden, true);
  }));
}

test('an answer that is refused closes the list', withTimers(async () => {
  const { input, list } = await type(['ha', 200]);
  await answer(0, 2);
  assert.equal(list.hidden, false);
  input.send('input');
  mock.timers.tick(200);
  server.answers[1]?.(Response.json({ detail: 'too much to do' }, { status: 503 }));
  await someTurns(10);
  assert.equal(list.hidden, true);
}));
