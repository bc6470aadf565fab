/** Forms whose changes are not saved yet: who leaves the screen, or the page, is asked first. */
import { ask, isQuestionOpen } from '../dialog.ts';
import { h } from '../../base/dom.ts';

/** The inputs of each guarded form as they were when the user first came to it. */
const originals = new Map<HTMLFormElement, string>();
let isAsking = false;

/**
 * Asks before changes of the form are lost. A value that the form fills in by itself, before the
 * user comes to it, is no change.
 */
export function guardForm(form: HTMLFormElement): void {
  const note = (): void => {
    if (!originals.has(form)) originals.set(form, readInputs(form));
  };
  form.addEventListener('focusin', note);
  // Not every browser focuses a button that is pressed.
  form.addEventListener('pointerdown', note);
}

function readInputs(form: HTMLFormElement): string {
  return [...form.querySelectorAll<HTMLInputElement>('input, select, textarea')]
    .map(({ value, checked }) => `${value} ${checked}`).join('\n');
}

/** Lets the user leave the screen without a question: all is saved, or is to be lost. */
export function forgetForms(): void {
  originals.clear();
}

function hasUnsavedForm(place: Node): boolean {
  const forms = [...originals.keys()];
  // A save has what was typed. The steps of one screen are saved together.
  if (forms.some(isBeingSaved) && !isQuestionOpen()) return false;
  return [...originals].some(([form, original]) =>
    place.contains(form) && readInputs(form) !== original);
}

/** Also while the save asks. */
function isBeingSaved(form: HTMLFormElement): boolean {
  return form.querySelector('[type=submit][aria-disabled]') !== null;
}

/** Calls `show` when another screen is asked for, and may be shown. */
export function listenToLeaving(show: () => void): void {
  addEventListener('hashchange', (event) => {
    if (!hasUnsavedForm(document)) {
      forgetForms();
      return show();
    }
    // The form keeps its address; the one that was asked for is one step back from it.
    history.pushState(null, '', event.oldURL);
    void askToLeave(() => {
      forgetForms();
      history.back();
    });
  });
  addEventListener('beforeunload', (event) => {
    if (hasUnsavedForm(document)) event.preventDefault();
  });
  // A dialog is to be closed. Its event does not bubble.
  addEventListener('cancel', (event) => {
    const dialog = event.target;
    if (!(dialog instanceof HTMLDialogElement) || !hasUnsavedForm(dialog)) return;
    event.preventDefault();
    void askToLeave(() => dialog.close());
  }, true);
}

async function askToLeave(leave: () => void): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  const isLeaving = await ask('Leave without saving?', [
    h('p', 'What you have changed in the form will be lost.'),
  ], [[false, 'Stay here'], [true, 'Leave', 'danger']]);
  isAsking = false;
  if (isLeaving === true) leave();
}
