/** Buttons of which one is chosen: that one is pressed. */
import { h } from '../base/dom.ts';

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
