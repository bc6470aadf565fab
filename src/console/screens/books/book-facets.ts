/**
 * The facets of the list of books: the most frequent authors, keywords and so on of the books that
 * match, with their counts. Only facets that the user has opened are counted, as the server reads
 * all books that match for it.
 */
import { LatestCall, getJson } from '../../base/api-calls.ts';
import { fill, h, refill } from '../../base/dom.ts';
import { formatCount } from '../../base/format.ts';
import { appendQuery, type Query } from '../../base/screen-address.ts';
import type { FilterForm } from '../../parts/lists/filter-form.ts';
import { showFailureIn } from '../../parts/notice.ts';
import { bookFacets } from './book-choices.ts';
import { formatFacetValue, isValueChosen, toggleValue } from './book-filters.ts';

type FacetCount = { readonly value: string; readonly count: number };
export type FacetsResponse = {
  readonly facets: Readonly<Record<string, readonly FacetCount[] | undefined>>;
};

type FacetPanel = {
  readonly name: string;
  readonly element: HTMLDetailsElement;
  readonly content: HTMLElement;
  /** null until they are counted. */
  counts: readonly FacetCount[] | null;
};

export class BookFacets {
  readonly element: HTMLElement;
  readonly #filters: FilterForm;
  readonly #panels: readonly FacetPanel[];
  /** The conditions of the list that is shown; null until there is one. */
  #conditions: Query | null = null;
  readonly #call = new LatestCall();

  constructor(filters: FilterForm) {
    this.#filters = filters;
    this.#panels = bookFacets.map(({ name, title }) => {
      const content = h('div');
      const element = h('details.facet', { ontoggle: () => void this.#count() },
        h('summary', title), content);
      return { name, element, content, counts: null };
    });
    this.element = h('div.facet-row', {}, ...this.#panels.map(({ element }) => element));
  }

  close(): void {
    this.#call.abort();
  }

  /** Shows which values are chosen. Their counts are those of the list before. */
  showChosen(): void {
    for (const panel of this.#panels) this.#show(panel);
  }

  /** Counts the books that meet the conditions of the API. */
  read(conditions: Query): void {
    this.#conditions = conditions;
    void this.#count();
  }

  async #count(): Promise<void> {
    this.#call.abort();
    const panels = this.#panels.filter(({ element }) => element.open);
    if (this.#conditions === null || panels.length === 0) return;
    const signal = this.#call.begin();
    const by = panels.map(({ name }) => name).join();
    try {
      const { facets } = await getJson<FacetsResponse>(
        appendQuery('/api/books/facets', { by, ...this.#conditions }), signal);
      for (const panel of panels) {
        const counts = facets[panel.name] ?? [];
        // By stars, the highest first; the others by how many books have the value.
        panel.counts = panel.name === 'rating'
          ? counts.toSorted((left, right) => Number(right.value) - Number(left.value)) : counts;
        this.#show(panel);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      for (const { content } of panels) showFailureIn(content, thrown, () => void this.#count());
    }
  }

  #show({ name, content, counts }: FacetPanel): void {
    if (counts === null) return fill(content, h('p.hint', 'Counting…'));
    if (counts.length === 0) return fill(content, h('p.hint', 'None of these books has one.'));
    refill(content, h('ul.plain-list', {}, ...counts.map(({ value, count }) => h('li',
      h('button.facet-value', {
        'aria-pressed': String(isValueChosen(this.#filters, name, value)),
        onclick: () => toggleValue(this.#filters, name, value),
      }, h('span', formatFacetValue(name, value)), ' ', h('span.hint', formatCount(count)))))));
  }
}
