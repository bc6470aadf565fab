/** Shows what is wrong with a document, each with its line, and leads to the place. */
import { h } from '../../base/dom.ts';
import { findLine, findPlace, type JsonPlace } from '../../base/json-places.ts';

/** One thing that is wrong. `place` is null where it is about no place in the document. */
export type DocumentProblem = { readonly detail: string; readonly place: JsonPlace | null };

/** The problem of a value of the document, by its JSON Pointer. */
export function placeProblem(
  places: ReadonlyMap<string, JsonPlace>, pointer: string, detail: string,
): DocumentProblem {
  return { detail: `${pointer}: ${detail}`, place: findPlace(places, pointer) };
}

/** A list of the problems; the first place is shown at once. `area` holds the document. */
export function showProblems(
  area: HTMLTextAreaElement, problems: readonly DocumentProblem[],
): HTMLElement {
  const [first] = problems.flatMap(({ place }) => place === null ? [] : [place]);
  if (first !== undefined) {
    area.setAttribute('aria-invalid', 'true');
    goToPlace(area, first);
  }
  return h('ol.log', { 'aria-label': 'What is wrong' }, ...problems.map(({ detail, place }) =>
    h('li', place === null ? null : h('button.inline', {
      onclick: () => goToPlace(area, place),
    }, `Line ${findLine(area.value, place.start)}`), place === null ? null : ': ', detail)));
}

/** Selects the place, and scrolls there: a browser scrolls to what is typed alone. */
function goToPlace(area: HTMLTextAreaElement, { start, end }: JsonPlace): void {
  const { value, scrollHeight, clientHeight } = area;
  const line = findLine(value, start);
  area.focus();
  area.setSelectionRange(start, end);
  area.scrollTop = (line - 1) / findLine(value, value.length) * scrollHeight - clientHeight / 3;
}
