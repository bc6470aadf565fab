/** Where one is in setting up a webhook. */
import { h } from '../../base/dom.ts';

const STEPS = ['Who sends', 'What is done', 'Test'];

/** `step` counts from 1. */
export function stepList(step: number): HTMLElement {
  return h('ol', { class: 'steps' }, ...STEPS.map((title, index) =>
    h('li', { 'aria-current': index + 1 === step ? 'step' : null }, title)));
}
