/** The filters of a list; their values are stored in the address. */
import { replaceQuery } from '../../base/screen-address.ts';
import { h } from '../../base/dom.ts';

export type FilterSpec = {
  readonly name: string;
  readonly label: string;
  /** The options of a select; without them the filter is a text input. */
  readonly values?: readonly string[];
  /** The label of an option; its value by default. */
  readonly formatLabel?: (value: string) => string;
  /** The label of the option that filters nothing. */
  readonly noneLabel?: string;
  readonly type?: 'search' | typeof TIME;
};

const TIME = 'datetime-local';

/** Words of the payload: the list is then a search. Jobs, which send many again, have none. */
export const SEARCH_FILTER: FilterSpec = { name: 'q', label: 'Search' };

export const TIME_FILTERS: readonly FilterSpec[] = [
  { name: 'since', label: 'Since', type: TIME }, { name: 'until', label: 'Until', type: TIME },
];

/** A narrow page shows so many filters; the others are folded unless one is set. */
const UNFOLDED_MAX = 2;
/** The list is read when the user has not typed for so long. */
const TYPING_MS = 250;
/** Limits the year to four digits: else Chromium lets users type six. */
const TIME_MAX = '9999-12-31T23:59';
const MINUTE_MS = 60_000;

export class FilterForm {
  readonly element: HTMLFormElement;
  readonly #inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onChange` gets the query of the filters that are set. */
  constructor(
    filters: readonly FilterSpec[], query: URLSearchParams,
    onChange: (query: Record<string, string>) => void,
  ) {
    const change = (): void => {
      clearTimeout(this.#timer);
      // The user has left the screen before the typing delay was over.
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
      return h('label', { class: className }, h('span', label), input);
    });
    const unfold = h('button.quiet.unfold', { onclick: () => {
      this.element.classList.add('open');
      labels[UNFOLDED_MAX]?.querySelector<HTMLElement>('input, select')?.focus();
    } }, 'More filters');
    const onsubmit = (event: Event): void => {
      event.preventDefault();
      change();
    };
    // Not validated: a time with seconds, from an address, is valid for the API.
    this.element = h('form.filters', { role: 'search', novalidate: true, onsubmit },
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

  /** The filters that are set, for the API and the address; times in UTC. */
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
  // A value from the address is shown as chosen, even if it is none of the options.
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
    // Shown in the browser's time zone. Older addresses hold local times without a zone.
    const at = new Date(value);
    input.valueAsNumber = at.getTime() - at.getTimezoneOffset() * MINUTE_MS;
  }
  return input;
}

/** A field for a time, outside of a list. `value` is in UTC, or ''. */
export function createTimeInput(value: string, oninput: () => void): HTMLInputElement {
  return createInput({ name: '', label: '', type: TIME }, value, oninput);
}

/** Reads the time of such a field in UTC; '' for an invalid one. */
export function readTimeInput({ value }: HTMLInputElement): string {
  return toUtc(value);
}

/** Converts a local time to UTC; '' for an invalid time. */
function toUtc(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export function appendQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}
