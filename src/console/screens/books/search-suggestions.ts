/**
 * Suggestions for the search of books while the user types: a combobox with a list that opens by
 * itself (WAI-ARIA Authoring Practices, "Editable Combobox With List Autocomplete"). The arrows
 * move through the list, Enter chooses, Escape closes it. The focus stays in the field.
 */
import { LatestCall, getJson } from '../../base/api-calls.ts';
import { fill, h, uniqueId } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import { appendQuery } from '../../base/screen-address.ts';

type SearchSuggestion = {
  readonly member: string; readonly value: string; readonly count: number;
};

/** Suggestions are fetched when the user has not typed for so long. */
const TYPING_MS = 150;
const MEMBERS: Readonly<Record<string, string>> =
  { title: 'title', authors: 'author', keywords: 'keyword' };

export class SearchSuggestions {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #onChoose: (text: string) => void;
  #options: readonly { readonly text: string; readonly element: HTMLElement }[] = [];
  /** The option that Enter chooses; -1: none. */
  #activeIndex = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #call = new LatestCall();

  /** `onChoose` gets the text of the suggestion that the user has chosen. */
  constructor(input: HTMLInputElement, onChoose: (text: string) => void) {
    this.#input = input;
    this.#onChoose = onChoose;
    const id = uniqueId('suggestions');
    this.element = h('ul.suggestions', { id, role: 'listbox', 'aria-label': 'Suggestions' });
    this.element.hidden = true;
    for (const [name, value] of Object.entries({
      role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false',
      'aria-controls': id, autocomplete: 'off',
    })) input.setAttribute(name, value);
    input.addEventListener('input', () => this.#suggestSoon());
    input.addEventListener('keydown', (event) => this.#onKey(event));
    input.addEventListener('blur', () => this.close());
    // A press would take the focus from the field, and close the list before the click.
    this.element.addEventListener('mousedown', (event) => event.preventDefault());
  }

  /** Closes the list. Suggestions that are still on their way are dropped. */
  close(): void {
    clearTimeout(this.#timer);
    this.#call.abort();
    this.#show([]);
  }

  #suggestSoon(): void {
    clearTimeout(this.#timer);
    this.#call.abort();
    // Nothing begins with an empty text.
    if (this.#input.value.trim() === '') return this.#show([]);
    this.#timer = setTimeout(() => void this.#suggest(), TYPING_MS);
  }

  async #suggest(): Promise<void> {
    const signal = this.#call.begin();
    const path = appendQuery('/api/books/suggest', { q: this.#input.value });
    let suggestions: readonly SearchSuggestion[] = [];
    try {
      suggestions = await getJson<readonly SearchSuggestion[]>(path, signal);
    } catch {
      // The list below, which is read for the same text, shows what is wrong.
    }
    if (!signal.aborted) this.#show(suggestions);
  }

  #show(suggestions: readonly SearchSuggestion[]): void {
    this.#options = suggestions.map(({ member, value, count }) => {
      const hint = `${MEMBERS[member] ?? member}, ${formatQuantity(count, 'book')}`;
      const element = h('li', {
        id: uniqueId('suggestion'), role: 'option', onclick: () => this.#choose(value),
      }, value, ' ', h('span.hint', hint));
      return { text: value, element };
    });
    fill(this.element, ...this.#options.map(({ element }) => element));
    this.element.hidden = this.#options.length === 0;
    this.#input.setAttribute('aria-expanded', String(!this.element.hidden));
    this.#activate(-1);
  }

  #choose(text: string): void {
    this.close();
    this.#onChoose(text);
  }

  #onKey(event: KeyboardEvent): void {
    // Enter and the arrows belong to the input method while it composes a word.
    if (event.isComposing) return;
    const isOpen = this.#options.length > 0;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (isOpen) this.#move(event.key === 'ArrowDown' ? 1 : -1);
      else if (this.#input.value.trim() !== '') void this.#suggest();
    } else if (event.key === 'Escape' && isOpen) {
      // Without a list the browser empties the field.
      event.preventDefault();
      this.close();
    } else if (event.key === 'Enter') {
      const option = this.#options[this.#activeIndex];
      if (option === undefined) return this.close();
      event.preventDefault();
      this.#choose(option.text);
    }
  }

  /** Goes round: the field itself stands between the last option and the first. */
  #move(step: number): void {
    const places = this.#options.length + 1;
    this.#activate((this.#activeIndex + 1 + step + places) % places - 1);
  }

  #activate(index: number): void {
    this.#activeIndex = index;
    this.#options.forEach(({ element }, position) =>
      element.setAttribute('aria-selected', String(position === index)));
    const active = this.#options[index]?.element;
    if (active === undefined) return this.#input.removeAttribute('aria-activedescendant');
    this.#input.setAttribute('aria-activedescendant', active.id);
    active.scrollIntoView({ block: 'nearest' });
  }
}
