/** Redrawing keeps what a person sees and does; elements are stand-ins, as Node has no DOM. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { compile } from '../../support/compile.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

type Dom = {
  fill(parent: Element, ...children: readonly Element[]): void;
  refill(parent: Element, ...children: readonly Element[]): void;
};

/** What the functions under test use of an element. */
class Element {
  children: Element[] = [];
  readonly textContent: string;
  readonly #href: string | null;
  /** Whether a button inside is at work. */
  isBusy = false;

  constructor(textContent: string, href: string | null = null) {
    this.textContent = textContent;
    this.#href = href;
  }

  getAttribute(name: string): string | null { return name === 'href' ? this.#href : null; }
  matches(): boolean { return false; }
  replaceChildren(): void { this.children = []; }
  append(child: Element): void { this.children.push(child); }
  focus(): void { page.activeElement = this; }
  querySelector(): Element | null { return this.isBusy ? this : null; }
  querySelectorAll(selector: string): Element[] {
    return selector === 'details' ? [] : this.children;
  }
}

const page: { activeElement: Element | null } = { activeElement: null };
Object.assign(globalThis, { document: page, Node: Element });
// Compiled, not imported: the types of the page are not those of Node.
const { fill, refill }: Dom =
  await import(compile('src/console/base/dom.ts', createTemporaryFolder()));

for (const [kind, href] of [['button', null], ['link', '#books']] as const) {
  test(`the focus stays on the same ${kind} when another comes before it`, () => {
    const parent = new Element('');
    const before = new Element('Save', href);
    fill(parent, before);
    before.focus();
    const after = new Element('Save', href);
    refill(parent, new Element('New', href), after);
    assert.equal(page.activeElement, after);
  });
}

test('a redraw that had to wait does not replace what was drawn since', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const parent = new Element('');
    parent.isBusy = true;
    refill(parent, new Element('old'));
    fill(parent, new Element('new'));
    parent.isBusy = false;
    mock.timers.tick(1000);
    assert.deepEqual(parent.children.map(({ textContent }) => textContent), ['new']);
  } finally {
    mock.timers.reset();
  }
});
