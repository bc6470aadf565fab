/** What filters the list of books beyond the fields of its form, with buttons to remove it. */
import { fill, h } from '../../base/dom.ts';
import type { FilterForm } from '../../parts/lists/filter-form.ts';
import { listChosenFilters } from './book-filters.ts';

export class ChosenFilters {
  readonly element = h('ul.chips', { 'aria-label': 'Chosen filters' });
  readonly #filters: FilterForm;

  constructor(filters: FilterForm) {
    this.#filters = filters;
  }

  show(): void {
    const chips = listChosenFilters(this.#filters).map(({ label, remove }, index) => h('li',
      h('button.chip', { 'aria-label': `Remove ${label}`, onclick: () => {
        remove();
        this.#focus(index);
      } }, label, h('span', { 'aria-hidden': true }, ' ✕'))));
    fill(this.element, ...chips);
    this.element.hidden = this.element.childElementCount === 0;
  }

  /** The focus goes to the next filter, else to the last, else to the search. */
  #focus(index: number): void {
    const buttons = this.element.querySelectorAll('button');
    (buttons[index] ?? buttons[buttons.length - 1] ?? this.#filters.findField('q'))?.focus();
  }
}
