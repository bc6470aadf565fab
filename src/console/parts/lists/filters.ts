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
  readonly type?: 'search' | 'datetime-local';
};

export const TIME_FILTERS: readonly Filter[] = [
  { name: 'since', label: 'Since', type: 'datetime-local' },
  { name: 'until', label: 'Until', type: 'datetime-local' },
];

/** On a narrow page; the others are folded until they are asked for, or one is set. */
const SHOWN_FIRST = 2;
/** Typing is waited out for so long. */
const TYPING_MS = 250;

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
      replaceQuery(this.shown());
      onChange(this.query());
    };
    const changeLater = (): void => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(change, TYPING_MS);
    };
    const labels = filters.map((filter, index) => {
      const { name, label, values, none = 'all', labelOf, type = 'search' } = filter;
      const input = values === undefined ? h('input', { type, oninput: changeLater })
        : h('select', { onchange: change }, h('option', { value: '' }, none),
          ...values.map((value) => h('option', { value }, labelOf?.(value) ?? value)));
      input.name = name;
      input.value = query.get(name) ?? '';
      this.#inputs.set(name, input);
      const place = index < SHOWN_FIRST ? 'filter' : 'filter folded';
      return h('label', { class: place }, h('span', {}, label), input);
    });
    const unfold = h('button', { type: 'button', class: 'quiet unfold', onclick: () => {
      this.element.classList.add('open');
      labels[SHOWN_FIRST]?.querySelector<HTMLElement>('input, select')?.focus();
    } }, 'More filters');
    this.element = h('form', { class: 'filters', role: 'search', onsubmit: (event) => {
      event.preventDefault();
      change();
    } }, ...labels, filters.length > SHOWN_FIRST ? unfold : null);
    this.element.classList.toggle('open', this.isSet);
  }

  get isSet(): boolean {
    return Object.keys(this.shown()).length > 0;
  }

  /** As the API takes them; times in UTC. */
  query(): Record<string, string> {
    return Object.fromEntries([...this.#inputs].filter(([, { value }]) => value !== '')
      .map(([name, { value, type }]) =>
        [name, type === 'datetime-local' ? new Date(value).toISOString() : value]));
  }

  /** As they stand in the address bar. */
  shown(): Record<string, string> {
    return Object.fromEntries([...this.#inputs].filter(([, { value }]) => value !== '')
      .map(([name, { value }]) => [name, value]));
  }
}

export function pathWith(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}
