/** How a receiver verifies what a webhook sends: code in his language, and a call to try it. */
import { fill, h } from '../../base/dom.ts';
import { codeBlock } from '../../parts/code-block.ts';
import type {
  OutgoingWebhookExamples,
} from '../../../webhooks/diagnostics/diagnostic-schema.ts';

/** The languages, as the API and people call them. */
const LANGUAGES = [['node', 'Node.js'], ['php', 'PHP'], ['python', 'Python']] as const;

export function verificationSection(examples: OutgoingWebhookExamples): HTMLElement {
  const { obstacle, curl } = examples;
  const code = h('div');
  const show = (name: (typeof LANGUAGES)[number][0]): void => {
    buttons.forEach((button, index) =>
      button.setAttribute('aria-pressed', String(LANGUAGES[index]?.[0] === name)));
    fill(code, codeBlock(examples[name] ?? ''));
  };
  const buttons = LANGUAGES.map(([name, title]) =>
    h('button', { onclick: () => show(name) }, title));
  show('node');
  return h('section', h('h2', 'How to verify'),
    ...obstacle === null ? [
      h('p.hint', 'Whoever receives the requests calls this function with the headers, the query '
        + 'and the body as it came. The secret is in the environment of that program.'),
      h('div.actions', { role: 'group', 'aria-label': 'Language' }, ...buttons), code,
    ] : [h('p', `There is no code to copy: ${obstacle}.`)],
    curl === null ? null : h('details', h('summary', 'A signed call, to try it with'),
      codeBlock(curl)));
}
