/** The filters of a list; their values are stored in the address. */
import { formatQuery, pushQuery, replaceQuery, type Query } from '../../base/screen-address.ts';
import { h, createSelect, uniqueId } from '../../base/dom.ts';
import { formatTimestamp } from '../../base/format.ts';

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
  readonly placeholder?: string;
  /** The list is a search while it is set. Jobs, which send many again, do not search. */
  readonly isSearch?: boolean;
  /** It may be set several times: there is an empty field behind those that are filled in. */
  readonly isRepeated?: boolean;
  /**
   * A text that is typed filters at once if it is like this. The server would refuse any other,
   * which waits for Enter, or until the user leaves the field; the hint says what it lacks.
   */
  readonly whole?: { readonly pattern: RegExp; readonly hint: string };
  /**
   * It may have several values, any of which will do. What is typed filters at once; Enter chooses
   * it, and empties the field for another value.
   */
  readonly isAnyOf?: boolean;
  /** It stays on one line with the filter before it. */
  readonly isPaired?: boolean;
  /** It has no field: another part of the screen sets it. */
  readonly isHidden?: boolean;
};

const TIME = 'datetime-local';

/** Words and conditions that a record is searched for, as the API and the commands take them. */
export const SEARCH_FILTERS: readonly FilterSpec[] = [
  { name: 'q', label: 'Search', placeholder: 'values, not names', isSearch: true },
  {
    name: 'where', label: 'Where', placeholder: 'payload.id=42', isSearch: true, isRepeated: true,
    whole: {
      pattern: /^$|^[^=!<>~{]+(!=|[<>]=|[=<>~])[^=]/,
      hint: 'Not complete yet',
    },
  },
];

/** How a list is sorted: what the API's `sort` may be, and what people call that. */
export function sortFilter(labels: Readonly<Record<string, string>>): FilterSpec {
  return {
    name: 'sort', label: 'Sort', values: Object.keys(labels), noneLabel: 'oldest first',
    formatLabel: (value) => labels[value] ?? value,
  };
}

export const TIME_FILTERS: readonly FilterSpec[] = [
  { name: 'since', label: 'Since', type: TIME },
  { name: 'until', label: 'Until', type: TIME, isPaired: true },
];

/**
 * A narrow page shows so many filters, a wide one so many, and what is paired with them. Of the
 * others it shows those that are set when it opens.
 */
const NARROW_MAX = 2;
const WIDE_MAX = 7;
/** The list is read when the user has not typed for so long. */
const TYPING_MS = 250;
/** The API takes a parameter so many times. */
const REPEATS_MAX = 10;
/** Limits the year to four digits: else Chromium lets users type six. */
const TIME_MAX = '9999-12-31T23:59';
const MINUTE_MS = 60_000;

type FilterInput = HTMLInputElement | HTMLSelectElement;

export class FilterForm {
  readonly element: HTMLFormElement;
  /** The fields of each filter; a repeated one has several. */
  readonly #inputs = new Map<FilterSpec, FilterInput[]>();
  /** The values that stand in no field. */
  readonly #chosenValues = new Map<FilterSpec, readonly string[]>();
  readonly #onChange: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(filters: readonly FilterSpec[], query: URLSearchParams, onChange: () => void) {
    this.#onChange = onChange;
    const labels: HTMLElement[] = [];
    let className = 'filter';
    for (const [index, filter] of filters.entries()) {
      if (filter.isPaired !== true) className = nameClass(filters, index, query);
      const fields = this.#createFields(filter, query, className);
      const previous = filter.isPaired === true ? labels.pop() : undefined;
      labels.push(...previous === undefined ? fields : [h('div', {
        class: previous.className.replace('filter', 'filter-pair'),
      }, previous, ...fields)]);
    }
    const unfold = h('button.quiet.unfold', { 'aria-expanded': 'false', onclick: () => {
      const fields = this.element.querySelectorAll<HTMLElement>('.folded :is(input, select)');
      const firstHidden = [...fields].find((field) => !field.checkVisibility());
      const isOpen = this.element.classList.toggle('open');
      unfold.setAttribute('aria-expanded', String(isOpen));
      unfold.textContent = isOpen ? 'Fewer filters' : 'More filters';
      firstHidden?.focus();
    } }, 'More filters');
    const onsubmit = (event: Event): void => {
      event.preventDefault();
      this.#change();
    };
    // Not validated: a time with seconds, from an address, is valid for the API.
    this.element = h('form.filters', { role: 'search', novalidate: true, onsubmit },
      ...labels, unfold);
    const current = this.readAll();
    if (formatQuery(current) !== query.toString()) replaceQuery(current);
  }

  get isSet(): boolean {
    return formatQuery(this.readAll()) !== '';
  }

  get isSearch(): boolean {
    return formatQuery(this.readSearch()) !== '';
  }

  /** Filters of one value that are set, for the API and the address; times in UTC. */
  readQuery(): Record<string, string> {
    return Object.fromEntries([...this.#inputs.keys()]
      .filter(({ isSearch, isAnyOf }) => isSearch !== true && isAnyOf !== true)
      .map((filter) => [filter.name, this.#readValues(filter).join('')] as const)
      .filter(([, value]) => value !== ''));
  }

  /** Returns what `readQuery` does in words of the form: `status failed, webhook crm`. */
  describe(): string {
    const query = this.readQuery();
    return [...this.#inputs.keys()].flatMap(({ name, label, type, formatLabel }) => {
      const { [name]: value } = query;
      if (value === undefined) return [];
      const format = type === TIME ? formatTimestamp : formatLabel;
      return [`${label.toLowerCase()} ${format?.(value) ?? value}`];
    }).join(', ');
  }

  /** The filters that make the list a search. */
  readSearch(): Query {
    return Object.fromEntries([...this.#inputs.keys()]
      .filter(({ isSearch }) => isSearch === true)
      .map((filter) => [filter.name, this.#readValues(filter)]));
  }

  readAll(): Query {
    const anyOf = [...this.#inputs.keys()].filter(({ isAnyOf }) => isAnyOf === true)
      .map((filter) => [filter.name, this.#readValues(filter)]);
    return { ...this.readSearch(), ...Object.fromEntries(anyOf), ...this.readQuery() };
  }

  /** The values of filters that stand in no field, in the order of the filters. */
  listChosen(): readonly { readonly filter: FilterSpec; readonly value: string }[] {
    return [...this.#chosenValues].flatMap(([filter, values]) =>
      values.map((value) => ({ filter, value })));
  }

  /** Whether a filter has that value, whatever its case. */
  has(name: string, value: string): boolean {
    const filter = this.#get(name);
    return this.#readValues(filter).some((one) => isSameValue(one, value));
  }

  /** Sets filters of one value by their names; '' filters nothing. */
  set(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      const filter = this.#get(name);
      const [input] = this.#inputs.get(filter) ?? [];
      if (input === undefined) this.#chosenValues.set(filter, value === '' ? [] : [value]);
      else input.value = value;
    }
    this.#change();
  }

  /** Gives a value to a filter that may have several, or takes it away where it has it. */
  toggle(name: string, value: string): void {
    const filter = this.#get(name);
    const others = (this.#chosenValues.get(filter) ?? []).filter((one) => !isSameValue(one, value));
    this.#chosenValues.set(filter, this.has(name, value) ? others : [...others, value]);
    for (const input of this.#inputs.get(filter) ?? []) {
      if (isSameValue(input.value, value)) input.value = '';
    }
    this.#change();
  }

  findField(name: string): FilterInput | undefined {
    return this.#inputs.get(this.#get(name))?.[0];
  }

  #get(name: string): FilterSpec {
    const filter = [...this.#inputs.keys()].find((one) => one.name === name);
    if (filter === undefined) throw new Error(`There is no filter ${name}.`);
    return filter;
  }

  #readValues(filter: FilterSpec): string[] {
    const typedValues = (this.#inputs.get(filter) ?? [])
      .map(({ value, type }) => type === TIME ? toUtc(value) : value);
    return [...this.#chosenValues.get(filter) ?? [], ...typedValues].filter((one) => one !== '');
  }

  /** What is typed replaces the address: not each letter is a step back. */
  #change(changeAddress = pushQuery): void {
    clearTimeout(this.#timer);
    // The user has left the screen before the typing delay was over.
    if (!this.element.isConnected) return;
    changeAddress(this.readAll());
    this.#onChange();
  }

  #changeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#change(replaceQuery), TYPING_MS);
  }

  #createFields(
    filter: FilterSpec, query: URLSearchParams, className: string,
  ): readonly HTMLElement[] {
    const { isRepeated, isAnyOf, isHidden } = filter;
    const values = query.getAll(filter.name);
    if (isRepeated === true) return this.#createRepeated(filter, values, className);
    if (isAnyOf !== true && isHidden !== true) {
      return [this.#createField(filter, values[0] ?? '', className)];
    }
    this.#inputs.set(filter, []);
    this.#chosenValues.set(filter, values);
    return isHidden === true ? [] : [this.#createAnyOf(filter, className)];
  }

  #createField(filter: FilterSpec, value: string, className: string): HTMLElement {
    const { label, values } = filter;
    const input = values === undefined
      ? createInput(filter, value, () => this.#changeSoon())
      : createChoice(filter, values, value, () => this.#change());
    this.#inputs.set(filter, [input]);
    return createLabel(className, label, input);
  }

  /** Creates the field in which values are typed that join those that are chosen. */
  #createAnyOf(filter: FilterSpec, className: string): HTMLElement {
    const label = this.#createField(filter, '', className);
    label.addEventListener('keydown', (event) => {
      const input = this.findField(filter.name);
      const value = input?.value.trim() ?? '';
      if (event.key !== 'Enter' || event.isComposing || value === '') return;
      event.preventDefault();
      if (input !== undefined) input.value = '';
      // A value that is chosen already is not added.
      if (this.has(filter.name, value)) this.#change();
      else this.toggle(filter.name, value);
    });
    return label;
  }

  /** Creates a field for each value, and an empty one behind them. */
  #createRepeated(
    filter: FilterSpec, values: readonly string[], className: string,
  ): readonly HTMLElement[] {
    const inputs: FilterInput[] = [];
    this.#inputs.set(filter, inputs);
    const createNext = (value: string): HTMLElement => {
      const hint = h('span', { id: uniqueId('hint'), role: 'status' });
      const input = createInput(filter, value, () => {
        const isWhole = (text: string): boolean => filter.whole?.pattern.test(text) !== false;
        hint.textContent = isWhole(input.value) ? '' : filter.whole?.hint ?? '';
        if (inputs.every((one) => isWhole(one.value))) this.#changeSoon();
        if (inputs.length === REPEATS_MAX || inputs.some((one) => one.value === '')) return;
        const last = inputs.at(-1)?.parentElement?.parentElement;
        last?.after(createNext(''));
      });
      input.setAttribute('aria-describedby', hint.id);
      input.addEventListener('change', () => this.#change());
      inputs.push(input);
      const label = inputs.length === 1 ? filter.label : `${filter.label} ${inputs.length}`;
      return h('div', { class: className }, createLabel('filter', label, input), hint);
    };
    return [...values, ''].slice(0, REPEATS_MAX).map(createNext);
  }
}

/** The filters of which no field shows that they are set are folded. */
function nameClass(
  filters: readonly FilterSpec[], index: number, query: URLSearchParams,
): string {
  const isSet = filters.slice(index, index + 2).some(({ name, isAnyOf, isPaired }, place) =>
    isAnyOf !== true && (place === 0 || isPaired === true) && query.getAll(name).join('') !== '');
  if (isSet || index < NARROW_MAX) return 'filter';
  return index < WIDE_MAX ? 'filter folded' : 'filter folded rare';
}

function createLabel(className: string, label: string, input: FilterInput): HTMLElement {
  return h('label', { class: className }, h('span', label), input);
}

function isSameValue(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function createChoice(
  { name, noneLabel = 'all', formatLabel }: FilterSpec, values: readonly string[], value: string,
  onchange: () => void,
): HTMLSelectElement {
  // A value from the address is shown as chosen, even if it is none of the options.
  const all = value === '' || values.includes(value) ? values : [...values, value];
  const options = all.map((option) => [option, formatLabel?.(option) ?? option] as const);
  return createSelect([['', noneLabel], ...options], value, { name, onchange });
}

function createInput(
  { name, type = 'search', placeholder }: FilterSpec, value: string, oninput: () => void,
): HTMLInputElement {
  const max = type === TIME ? TIME_MAX : null;
  const input = h('input', { name, type, placeholder, oninput, max });
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

/** In UTC; '' for an invalid time. */
export function readTimeInput({ value }: HTMLInputElement): string {
  return toUtc(value);
}

function toUtc(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
