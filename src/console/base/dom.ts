/**
 * Makes nodes. Whatever is shown goes through here as text: nothing in the console parses HTML.
 */

type Listener = (event: Event) => void;
/** An attribute; true stands for an empty one, null, undefined and false for none. */
type Value = string | number | boolean | null | undefined | Listener;
type Attributes = Readonly<Record<string, Value>>;
export type Child = Node | string | number | null | false;

/** An element with its attributes and children; `onclick` and the like are listeners. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name, attributes: Attributes = {}, ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(
  name: string, attributes: Attributes = {}, ...children: readonly Child[]
): SVGElement {
  const element = document.createElementNS(SVG, name);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/** Puts these in the place of all children. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

const USED_MS = 50;
const latest = new WeakMap<Element, readonly Child[]>();

/**
 * As `fill`, of the same thing anew: what was open stays open, and the focus where it was. While
 * something of it is being clicked, or at work, it waits.
 */
export function renew(parent: Element, ...children: readonly Child[]): void {
  latest.set(parent, children);
  const draw = (): void => {
    if (latest.get(parent) !== children) return;
    const isUsed = parent.matches(':active') || parent.querySelector('[aria-disabled]') !== null;
    if (isUsed) setTimeout(draw, USED_MS);
    else keeping(parent, () => fill(parent, ...children));
  };
  draw();
}

function keeping(parent: Element, draw: () => void): void {
  const details = (): NodeListOf<HTMLDetailsElement> => parent.querySelectorAll('details');
  const controls = (): HTMLElement[] =>
    [...parent.querySelectorAll<HTMLElement>('a, button, summary, [tabindex]')];
  const open = [...details()].map((one) => one.open);
  const before = controls();
  const index = before.findIndex((control) => control === document.activeElement);
  const focused = before[index];
  const isSame = (control: HTMLElement): boolean => control.textContent === focused?.textContent
    && control.getAttribute('href') === focused.getAttribute('href');
  draw();
  details().forEach((one, at) => {
    one.open = open[at] ?? false;
  });
  if (focused === undefined) return;
  const after = controls();
  const same = after.filter(isSame);
  (same[before.slice(0, index).filter(isSame).length] ?? same[0] ?? after[index])
    ?.focus({ preventScroll: true });
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === false) continue;
    parent.append(child instanceof Node ? child : shown(String(child)));
  }
}

/** Names what would turn the direction of the text around it, so that nothing misleads. */
function shown(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (character) =>
    `‹U+${character.charCodeAt(0).toString(16).toUpperCase()}›`);
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
}

/** A link; only to http, https and within the page, whatever is given. */
export function link(href: string, ...children: readonly Child[]): HTMLElement {
  if (href.startsWith('#')) return h('a', { href }, ...children);
  const isSafe = /^https?:\/\//i.test(href);
  if (!isSafe) return h('span', {}, ...children);
  return h('a', { href, rel: 'noreferrer', target: '_blank' }, ...children);
}

let idCount = 0;

/** An `id` that no other element of the page has. */
export function uniqueId(prefix: string): string {
  idCount += 1;
  return `${prefix}-${idCount}`;
}
