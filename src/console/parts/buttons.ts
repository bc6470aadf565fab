/** Buttons that run one action at a time, and buttons of which one is chosen. */
import { h } from '../base/dom.ts';
import { showFailureNotice } from './notice.ts';

/** While its action runs, the button and those beside it do nothing. */
export function asyncButton(
  text: string, action: () => Promise<unknown>, style = '',
): HTMLButtonElement {
  const button = h('button', { class: style, onclick: () => {
    const beside = button.parentElement?.querySelectorAll('button') ?? [];
    void runExclusively([...beside], action).catch(showFailureNotice);
  } }, text);
  return button;
}

/** Does nothing while one of the buttons is at work. Throws what `action` throws. */
export async function runExclusively(
  buttons: readonly HTMLButtonElement[], action: () => Promise<unknown>,
): Promise<void> {
  if (buttons.some(({ ariaDisabled }) => ariaDisabled !== null)) return;
  // Not `disabled`, which would lose the focus.
  for (const button of buttons) button.ariaDisabled = 'true';
  try {
    await action();
  } finally {
    for (const button of buttons) button.ariaDisabled = null;
  }
}

/**
 * Lets nobody use the elements while the action runs, whose end would take back what was changed in
 * them. They lose the focus. Throws what `action` throws.
 */
export async function runInert(
  elements: readonly HTMLElement[], action: () => Promise<unknown>,
): Promise<void> {
  for (const element of elements) element.inert = true;
  try {
    await action();
  } finally {
    for (const element of elements) element.inert = false;
  }
}

export class ChoiceButtons<Value> {
  readonly elements: readonly HTMLButtonElement[];
  readonly #values: readonly Value[];
  #chosen: Value;

  /** `onChoose` is called when the user chooses, not for the value that is chosen first. */
  constructor(
    choices: readonly (readonly [value: Value, label: string])[], chosen: Value,
    onChoose: (value: Value) => void,
  ) {
    this.#values = choices.map(([value]) => value);
    this.#chosen = chosen;
    this.elements = choices.map(([value, label]) => h('button', { onclick: () => {
      this.#chosen = value;
      this.#show();
      onChoose(value);
    } }, label));
    this.#show();
  }

  get chosen(): Value {
    return this.#chosen;
  }

  #show(): void {
    this.elements.forEach((button, index) =>
      button.setAttribute('aria-pressed', String(this.#values[index] === this.#chosen)));
  }
}
