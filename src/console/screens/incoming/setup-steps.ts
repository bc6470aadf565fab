/** The three steps of setting up an incoming webhook, and the secret between them. */
import { h } from '../../base/dom.ts';

const STEPS = ['Who sends', 'What is done', 'Test'];

/** `step` counts from 1. */
export function stepList(step: number): HTMLElement {
  return h('ol.steps', {}, ...STEPS.map((title, index) =>
    h('li', { 'aria-current': index + 1 === step ? 'step' : null }, title)));
}

/** Secrets that were generated just now, by webhook id: shown until the page is loaded again. */
export const newSecrets = new Map<string, string>();
