/** Rates a book, sets its status, and puts it on shelves, at once and without its form. */
import { valueLabels } from '../../base/book-labels.ts';
import { createSelect, h } from '../../base/dom.ts';
import { encodeJson } from '../../base/json-text.ts';
import { asyncButton, runInert } from '../../parts/buttons.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import {
  addText, createOffers, patchMember, removeText, type ChangedMember,
} from './book-changes.ts';
import { STARS_MAX } from './book-marks.ts';
import { changeIfCurrent, fetchBook, type StoredBook } from './stored-book.ts';

type ControlMember = Exclude<ChangedMember, 'keywords'>;

const MEMBER_LABELS: Readonly<Record<ControlMember, string>> = {
  rating: 'The rating', status: 'The status', shelves: 'The shelves',
};

/** `refresh` shows the book as it is then. */
export function readingControls(
  container: HTMLElement, { book, etag }: StoredBook, refresh: () => Promise<void>,
): HTMLElement {
  const { rating, status = '', shelves = [] } = book.reading ?? {};
  // Its own elements are drawn anew: the focus goes to the control of the same name.
  const focus = (name: string): void =>
    container.querySelector<HTMLElement>(`.reading-controls [name="${name}"]`)?.focus();
  const change = (name: string, member: ControlMember, value: unknown): void => {
    const save = async (): Promise<void> => {
      const isSaved = await changeIfCurrent(() => patchMember(book.id, member, value, etag));
      if (isSaved) offerUndo(member, value);
      await refresh();
    };
    void runInert([element], save).catch(showFailureNotice).finally(() => focus(name));
  };
  // What was changed beside the member meanwhile stays.
  const offerUndo = (member: ControlMember, value: unknown): void => {
    const before = book.reading?.[member];
    const label = MEMBER_LABELS[member];
    const about = `${member} ${book.id}`;
    const undo = asyncButton('Undo', async () => {
      undo.parentElement?.remove();
      const stored = await fetchBook(book.id);
      if (encodeJson(stored?.book.reading?.[member]) !== encodeJson(value)) {
        showNotice(`${label} of ${book.title}: not undone, as it was changed again since.`, 'bad',
          { about });
      } else if (stored !== null
        && await changeIfCurrent(() => patchMember(book.id, member, before, stored.etag))) {
        showNotice(`${label} of ${book.title}: ${formatMember(member, before)}, as it was.`, 'good',
          { about });
      }
      // The user may be editing it by now.
      if (container.querySelector('.reading-controls') !== null) await refresh();
    });
    showNotice(`${label} of ${book.title}: ${formatMember(member, value)}.`, 'good',
      { undo, about });
  };
  const stars = Array.from({ length: STARS_MAX }, (_, index) => index + 1).map((count) =>
    h('button.quiet', {
      name: `rating-${count}`, 'aria-label': count === 1 ? '1 star' : `${count} stars`,
      'aria-pressed': String(rating === count),
      onclick: () => change(`rating-${count}`, 'rating', rating === count ? undefined : count),
    }, rating !== undefined && count <= rating ? '★' : '☆'));
  const select = createSelect([['', 'No status'], ...Object.entries(valueLabels['status'] ?? {})
    .filter(([value]) => value !== '')], status, {
    name: 'status', 'aria-label': 'Its status',
    onchange: () => change('status', 'status', select.value === '' ? undefined : select.value),
  });
  const shelf = h('input', {
    name: 'shelf', 'aria-label': 'Put it on a shelf', placeholder: 'Shelf', autocomplete: 'off',
    maxlength: 200,
  });
  const put = (event: Event): void => {
    event.preventDefault();
    const name = shelf.value.trim();
    if (name !== '') change('shelf', 'shelves', addText(shelves, name));
  };
  const element = h('div.actions.reading-controls',
    h('div.stars', { role: 'group', 'aria-label': 'Rate it' }, ...stars), select,
    ...shelves.map((name) => h('button', {
      'aria-label': `Take it off ${name}`,
      onclick: () => change('shelf', 'shelves', removeText(shelves, name)),
    }, `${name} ×`)),
    h('form.actions', { onsubmit: put }, shelf,
      createOffers(shelf, 'shelves'), h('button', { type: 'submit' }, 'Put')));
  return element;
}

function formatMember(member: ControlMember, value: unknown): string {
  if (value === undefined) return 'none';
  if (Array.isArray(value)) return value.join(', ');
  return valueLabels[member]?.[String(value)] ?? String(value);
}
