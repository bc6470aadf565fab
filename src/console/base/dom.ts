/**
 * Makes nodes. Whatever is shown goes through here as text: nothing in the console parses HTML.
 */

type EventHandler = (event: Event) => void;
/** An attribute; true stands for an empty one, null, undefined and false for none. */
type AttributeValue = string | number | boolean | null | undefined | EventHandler;
type Attributes = Readonly<Record<string, AttributeValue>>;
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

const BUSY_POLL_MS = 50;
const latestChildren = new WeakMap<Element, readonly Child[]>();

/**
 * As `fill`, of the same thing anew: what was open stays open, and the focus where it was. While
 * something of it is being clicked, or at work, it waits.
 */
export function refill(parent: Element, ...children: readonly Child[]): void {
  latestChildren.set(parent, children);
  const draw = (): void => {
    if (latestChildren.get(parent) !== children) return;
    const isBusy = parent.matches(':active') || parent.querySelector('[aria-disabled]') !== null;
    if (isBusy) setTimeout(draw, BUSY_POLL_MS);
    else drawKeepingState(parent, () => fill(parent, ...children));
  };
  draw();
}

function drawKeepingState(parent: Element, draw: () => void): void {
  const details = (): NodeListOf<HTMLDetailsElement> => parent.querySelectorAll('details');
  const controls = (): HTMLElement[] =>
    [...parent.querySelectorAll<HTMLElement>('a, button, summary, [tabindex]')];
  const wasOpen = [...details()].map((element) => element.open);
  const before = controls();
  const index = before.findIndex((control) => control === document.activeElement);
  const focused = before[index];
  const isSame = (control: HTMLElement): boolean => control.textContent === focused?.textContent
    && control.getAttribute('href') === focused.getAttribute('href');
  draw();
  details().forEach((element, position) => {
    element.open = wasOpen[position] ?? false;
  });
  if (focused === undefined) return;
  const after = controls();
  const alike = after.filter(isSame);
  (alike[before.slice(0, index).filter(isSame).length] ?? alike[0] ?? after[index])
    ?.focus({ preventScroll: true });
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === false) continue;
    parent.append(child instanceof Node ? child : escapeDirection(String(child)));
  }
}

/** Names what would turn the direction of the text around it, so that nothing misleads. */
function escapeDirection(text: string): string {
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
