/** The filters of a list, kept in the address bar. */
import { replaceQuery } from '../../base/address.ts';
import { h } from '../../base/dom.ts';

export type Filter = {
  readonly name: string;
  readonly label: string;
  /** With it a choice, without it a text. */
  readonly values?: readonly string[];
  /** What a value of the choice is called. */
  readonly labelOf?: (value: string) => string;
  /** What the choice says when nothing is chosen. */
  readonly none?: string;
  readonly type?: 'search' | typeof TIME;
};

const TIME = 'datetime-local';

export const TIME_FILTERS: readonly Filter[] = [
  { name: 'since', label: 'Since', type: TIME }, { name: 'until', label: 'Until', type: TIME },
];

/** On a narrow page; the others are folded until they are asked for, or one is set. */
const SHOWN_FIRST = 2;
/** Typing is waited out for so long. */
const TYPING_MS = 250;
/** With a year of four digits in it, Chromium lets nobody type more of them. */
const TIME_MAX = '9999-12-31T23:59';
const MINUTE_MS = 60_000;

export class Filters {
  readonly element: HTMLFormElement;
  readonly #inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onChange` is called with the query of the filters that are set. */
  constructor(
    filters: readonly Filter[], query: URLSearchParams,
    onChange: (query: Record<string, string>) => void,
  ) {
    const change = (): void => {
      clearTimeout(this.#timer);
      // Another screen has come while the typing was waited out.
      if (!this.element.isConnected) return;
      const shown = this.query();
      replaceQuery(shown);
      onChange(shown);
    };
    const changeLater = (): void => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(change, TYPING_MS);
    };
    const labels = filters.map((filter, index) => {
      const { name, label, values } = filter;
      const wanted = query.get(name) ?? '';
      const input = values === undefined ? makeInput(filter, wanted, changeLater)
        : makeChoice(filter, values, wanted, change);
      input.name = name;
      this.#inputs.set(name, input);
      const place = index < SHOWN_FIRST ? 'filter' : 'filter folded';
      return h('label', { class: place }, h('span', {}, label), input);
    });
    const unfold = h('button', { type: 'button', class: 'quiet unfold', onclick: () => {
      this.element.classList.add('open');
      labels[SHOWN_FIRST]?.querySelector<HTMLElement>('input, select')?.focus();
    } }, 'More filters');
    const onsubmit = (event: Event): void => {
      event.preventDefault();
      change();
    };
    // Not validated: a time with seconds, from an address, is as good as one without.
    this.element = h('form', { class: 'filters', role: 'search', novalidate: true, onsubmit },
      ...labels, filters.length > SHOWN_FIRST ? unfold : null);
    this.element.classList.toggle('open', this.isSet);
    const shown = this.query();
    if (filters.some(({ name }) => (shown[name] ?? '') !== (query.get(name) ?? ''))) {
      replaceQuery(shown);
    }
  }

  get isSet(): boolean {
    return Object.keys(this.query()).length > 0;
  }

  /** As the API takes them, and as they stand in the address bar; times in UTC. */
  query(): Record<string, string> {
    return Object.fromEntries([...this.#inputs]
      .map(([name, { value, type }]) => [name, type === TIME ? utcOf(value) : value])
      .filter(([, value]) => value !== ''));
  }
}

function makeChoice(
  { none = 'all', labelOf }: Filter, values: readonly string[], wanted: string,
  onchange: () => void,
): HTMLSelectElement {
  // What the address says is shown as chosen, also where it is not among the choices.
  const all = wanted === '' || values.includes(wanted) ? values : [...values, wanted];
  const select = h('select', { onchange }, h('option', { value: '' }, none),
    ...all.map((value) => h('option', { value }, labelOf?.(value) ?? value)));
  select.value = wanted;
  return select;
}

function makeInput(
  { type = 'search' }: Filter, wanted: string, oninput: () => void,
): HTMLInputElement {
  const input = h('input', { type, oninput, max: type === TIME ? TIME_MAX : null });
  if (type !== TIME) input.value = wanted;
  else {
    // In the reader's own time zone, as is one of which an older address says no zone.
    const at = new Date(wanted);
    input.valueAsNumber = at.getTime() - at.getTimezoneOffset() * MINUTE_MS;
  }
  return input;
}

/** Of a local time; empty where it is none. */
function utcOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export function pathWith(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}
