/** Creates DOM nodes. All content becomes text nodes: nothing in the console parses HTML. */

type EventHandler = (event: Event) => void;
/** true makes an empty attribute; null, undefined and false make none. */
type AttributeValue = string | number | boolean | null | undefined | EventHandler;
type Attributes = Readonly<Record<string, AttributeValue>>;
export type Child = Node | string | number | null | false;

/**
 * Creates an element, as in hyperscript: `div.card` has the class `card`, attributes may stand
 * first, and functions such as `onclick` become listeners. A button sends no form unless its `type`
 * says so.
 */
export function h<Name extends keyof HTMLElementTagNameMap>(
  selector: Name | `${Name}.${string}`, first: Attributes | Child = null,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const [name, ...classes] = selector.split('.') as [Name, ...string[]];
  const element = document.createElement(name);
  if (name === 'button') element.setAttribute('type', 'button');
  if (classes.length > 0) element.className = classes.join(' ');
  if (isChild(first)) append(element, [first]);
  else setAttributes(element, first);
  append(element, children);
  return element;
}

function isChild(value: Attributes | Child): value is Child {
  return typeof value !== 'object' || value === null || value instanceof Node;
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

/** The children of the last `refill` of an element, until they are drawn. */
const waitingChildren = new WeakMap<Element, readonly Child[]>();

/** Replaces all children. A `refill` of the same parent that still waits is given up. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  waitingChildren.delete(parent);
  parent.replaceChildren();
  append(parent, children);
}

const BUSY_POLL_MS = 50;
/** The elements whose focus is kept. No fields: `refill` would lose what was typed into them. */
const CONTROLS = 'a, button, summary, [tabindex]';
/** `runExclusively` of parts/buttons.ts sets it while a button is at work. */
const BUTTON_AT_WORK = '[aria-disabled]';

/**
 * Replaces all children by a newer rendering of the same thing: `details` stay open, and the focus
 * stays where it was. Waits while a part of it is being clicked or a button is at work. Not for
 * forms.
 */
export function refill(parent: Element, ...children: readonly Child[]): void {
  waitingChildren.set(parent, children);
  const draw = (): void => {
    // A later `fill` or `refill` has taken its place.
    if (waitingChildren.get(parent) !== children) return;
    const isBusy = parent.matches(':active') || parent.querySelector(BUTTON_AT_WORK) !== null;
    if (isBusy) setTimeout(draw, BUSY_POLL_MS);
    else drawKeepingState(parent, () => fill(parent, ...children));
  };
  draw();
}

function drawKeepingState(parent: Element, draw: () => void): void {
  const listDetails = (): NodeListOf<HTMLDetailsElement> => parent.querySelectorAll('details');
  const listControls = (): HTMLElement[] =>
    [...parent.querySelectorAll<HTMLElement>(CONTROLS)];
  const openStates = [...listDetails()].map(({ open }) => open);
  const before = listControls();
  const index = before.findIndex((control) => control === document.activeElement);
  const focusedControl = before[index];
  draw();
  listDetails().forEach((element, position) => {
    element.open = openStates[position] ?? element.open;
  });
  if (focusedControl === undefined) return;
  // The same control is the one with the same text and link; of several, the one in the same place.
  const isSame = (control: HTMLElement): boolean =>
    control.textContent === focusedControl.textContent
    && control.getAttribute('href') === focusedControl.getAttribute('href');
  const after = listControls();
  const sameControls = after.filter(isSame);
  const rank = before.slice(0, index).filter(isSame).length;
  (sameControls[rank] ?? sameControls[0] ?? after[index])?.focus({ preventScroll: true });
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === false) continue;
    parent.append(child instanceof Node ? child : escapeDirection(String(child)));
  }
}

/** Makes bidirectional control characters visible: untrusted text could mislead with them. */
function escapeDirection(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (character) =>
    `‹U+${character.charCodeAt(0).toString(16).toUpperCase()}›`);
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    // `onclick` is the event `click`.
    if (typeof value === 'function') element.addEventListener(name.slice('on'.length), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
}

/** A link to an http or https URL; any other URL, such as javascript:, becomes plain text. */
export function link(href: string, text: string): HTMLElement {
  return /^https?:\/\//i.test(href) ? h('a', { href, rel: 'noreferrer', target: '_blank' }, text)
    : h('span', text);
}

/** A select of these choices; without `value` the first is chosen. */
export function createSelect(
  choices: readonly (readonly [value: string, label: string, ...rest: unknown[]])[],
  value?: string, attributes: Attributes = {},
): HTMLSelectElement {
  const select = h('select', attributes,
    ...choices.map(([choice, label]) => h('option', { value: choice }, label)));
  if (value !== undefined) select.value = value;
  return select;
}

let idCount = 0;

export function uniqueId(prefix: string): string {
  idCount += 1;
  return `${prefix}-${idCount}`;
}
