/** The filters of a list, kept in the address bar. */
import { replaceQuery } from '../../base/screen-address.ts';
import { h } from '../../base/dom.ts';

export type FilterSpec = {
  readonly name: string;
  readonly label: string;
  /** With it a choice, without it a text. */
  readonly values?: readonly string[];
  /** What a value of the choice is called. */
  readonly formatLabel?: (value: string) => string;
  /** What the choice says when nothing is chosen. */
  readonly noneLabel?: string;
  readonly type?: 'search' | typeof TIME;
};

const TIME = 'datetime-local';

export const TIME_FILTERS: readonly FilterSpec[] = [
  { name: 'since', label: 'Since', type: TIME }, { name: 'until', label: 'Until', type: TIME },
];

/** On a narrow page; the others are folded until they are asked for, or one is set. */
const UNFOLDED_MAX = 2;
/** Typing is waited out for so long. */
const TYPING_MS = 250;
/** With a year of four digits in it, Chromium lets nobody type more of them. */
const TIME_MAX = '9999-12-31T23:59';
const MINUTE_MS = 60_000;

export class FilterForm {
  readonly element: HTMLFormElement;
  readonly #inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onChange` is called with the query of the filters that are set. */
  constructor(
    filters: readonly FilterSpec[], query: URLSearchParams,
    onChange: (query: Record<string, string>) => void,
  ) {
    const change = (): void => {
      clearTimeout(this.#timer);
      // Another screen has come while the typing was waited out.
      if (!this.element.isConnected) return;
      const current = this.readQuery();
      replaceQuery(current);
      onChange(current);
    };
    const changeLater = (): void => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(change, TYPING_MS);
    };
    const labels = filters.map((filter, index) => {
      const { name, label, values } = filter;
      const value = query.get(name) ?? '';
      const input = values === undefined ? createInput(filter, value, changeLater)
        : createChoice(filter, values, value, change);
      input.name = name;
      this.#inputs.set(name, input);
      const className = index < UNFOLDED_MAX ? 'filter' : 'filter folded';
      return h('label', { class: className }, h('span', {}, label), input);
    });
    const unfold = h('button', { type: 'button', class: 'quiet unfold', onclick: () => {
      this.element.classList.add('open');
      labels[UNFOLDED_MAX]?.querySelector<HTMLElement>('input, select')?.focus();
    } }, 'More filters');
    const onsubmit = (event: Event): void => {
      event.preventDefault();
      change();
    };
    // Not validated: a time with seconds, from an address, is as good as one without.
    this.element = h('form', { class: 'filters', role: 'search', novalidate: true, onsubmit },
      ...labels, filters.length > UNFOLDED_MAX ? unfold : null);
    this.element.classList.toggle('open', this.isSet);
    const current = this.readQuery();
    if (filters.some(({ name }) => (current[name] ?? '') !== (query.get(name) ?? ''))) {
      replaceQuery(current);
    }
  }

  get isSet(): boolean {
    return Object.keys(this.readQuery()).length > 0;
  }

  /** As the API takes them, and as they stand in the address bar; times in UTC. */
  readQuery(): Record<string, string> {
    return Object.fromEntries([...this.#inputs]
      .map(([name, { value, type }]) => [name, type === TIME ? toUtc(value) : value])
      .filter(([, value]) => value !== ''));
  }
}

function createChoice(
  { noneLabel = 'all', formatLabel }: FilterSpec, values: readonly string[], value: string,
  onchange: () => void,
): HTMLSelectElement {
  // What the address says is shown as chosen, also where it is not among the choices.
  const all = value === '' || values.includes(value) ? values : [...values, value];
  const select = h('select', { onchange }, h('option', { value: '' }, noneLabel),
    ...all.map((option) => h('option', { value: option }, formatLabel?.(option) ?? option)));
  select.value = value;
  return select;
}

function createInput(
  { type = 'search' }: FilterSpec, value: string, oninput: () => void,
): HTMLInputElement {
  const input = h('input', { type, oninput, max: type === TIME ? TIME_MAX : null });
  if (type !== TIME) input.value = value;
  else {
    // In the reader's own time zone, as is one of which an older address says no zone.
    const at = new Date(value);
    input.valueAsNumber = at.getTime() - at.getTimezoneOffset() * MINUTE_MS;
  }
  return input;
}

/** Of a local time; empty where it is none. */
function toUtc(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export function appendQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}
