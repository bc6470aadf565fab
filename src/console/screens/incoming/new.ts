/** A new incoming webhook in three steps: its sender, its action, a test. */
import { ApiError, BASE, call, get, messageOf } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { backTo, heading } from '../../parts/facts.ts';
import { Actions } from '../../parts/forms/action-chooser.ts';
import { recordForm } from '../../parts/forms/form.ts';
import { tell, tellFailure } from '../../parts/notice.ts';
import { goFrom, openView } from '../../parts/screen.ts';
import { doOnce } from '../../parts/work-button.ts';
import { NAMING_WORDS } from './edit.ts';
import { madeSecrets } from './made-secrets.ts';
import { senderField } from './sender.ts';
import { stepList } from './steps.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/describe-presets.ts';

export function openNewIncoming(place: HTMLElement): () => void {
  return openView(place, async () => {
    const [presets, actions] = await Promise.all([
      get<readonly PresetDescription[]>('/api/verification-presets'), Actions.read(),
    ]);
    render(place, presets, actions);
  });
}

function render(
  place: HTMLElement, presets: readonly PresetDescription[], actions: Actions,
): void {
  const steps = h('div');
  const hint = h('div', { class: 'hint' });
  let preset: PresetDescription | null = null;
  const sender = recordForm({
    schema: {
      required: ['pathSegment'],
      properties: {
        verification: {},
        pathSegment: { type: 'string' },
        secret: { type: 'string', writeOnly: true },
        name: { type: 'string' },
        description: { type: 'string' },
      },
    },
    words: { ...NAMING_WORDS, pathSegment: ['Path', addressHint()] },
    rare: ['name', 'description'],
    makers: { verification: senderField(presets, (chosen) => {
      preset = chosen;
      fill(hint, ...secretHint(chosen));
      const path = place.querySelector('[name="pathSegment"]');
      if (path instanceof HTMLInputElement && path.value === '') path.value = chosen?.name ?? '';
    }) },
    value: {}, action: 'Next: what is done', extra: [hint],
    save: async () => show(2),
  });
  const create = async (value: Record<string, unknown>): Promise<void> => {
    const { body } = await call<IncomingWebhook>('POST', '/api/incoming-webhooks', { body: value });
    if (preset?.secretFrom === 'here' && value['secret'] === undefined) await addSecret(body);
    tell(`${body.pathSegment} is there.`);
    goFrom(place, ['incoming', body.identifier], { step: 'test' });
  };
  const action = actionStep(actions, () => show(1), async (actionConfiguration) => {
    const value = { ...sender.read(), actionConfiguration };
    await create(value).catch((thrown: unknown) => {
      if (!(thrown instanceof ApiError) || thrown.problem.errors === undefined) throw thrown;
      show(1);
      sender.blame(thrown);
    });
  });
  function show(step: number): void {
    fill(steps, stepList(step));
    sender.element.hidden = step !== 1;
    action.hidden = step !== 2;
    const [shown] = [sender.element, action].filter(({ hidden }) => !hidden);
    shown?.querySelector<HTMLElement>('select, input')?.focus();
  }
  fill(place, backTo('incoming', 'Incoming webhooks'),
    heading('A new incoming webhook'), steps, sender.element, action);
  show(1);
}

function actionStep(
  actions: Actions, back: () => void, create: (identifier: string) => Promise<void>,
): HTMLElement {
  const chooser = actions.chooser();
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { type: 'submit', class: 'primary' }, 'Create it, then test it');
  const run = async (): Promise<void> => {
    problem.textContent = '';
    try {
      await create(await chooser.choose());
    } catch (thrown) {
      problem.textContent = messageOf(thrown);
    }
  };
  return h('form', { class: 'record', novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    void doOnce([button], run);
  } }, chooser.element, problem, h('div', { class: 'actions' },
    h('button', { type: 'button', onclick: back }, 'Back'), button));
}

/** It is shown in the next step, this once. */
async function addSecret({ identifier }: IncomingWebhook): Promise<void> {
  const path = `/api/incoming-webhooks/${identifier}/rotate-secret`;
  try {
    const { body } = await call<{ readonly secret?: string }>('POST', path, { body: {} });
    if (body.secret !== undefined) madeSecrets.set(identifier, body.secret);
  } catch (thrown) {
    tellFailure(thrown);
  }
}

function addressHint(): string {
  const base = `${location.origin}${BASE}`;
  return `The end of the address that the sender calls: ${base}/webhook/in/<path>`;
}

function secretHint(preset: PresetDescription | null): HTMLElement[] {
  if (preset === null) {
    return [h('p', {}, 'Without a secret, whoever knows the address can call it. With one, the '
      + 'caller signs each request in the header ', h('code', {}, 'X-Signature'), '.')];
  }
  const { sender, pasteUrl, pasteSecret, secretFrom } = preset;
  return [
    h('p', {}, `At ${sender} the address goes to: ${pasteUrl}.`),
    h('p', {}, secretFrom === 'here'
      ? `Leave the secret empty and one is made. The last step shows it, for: ${pasteSecret}.`
      : `${sender} makes the secret: ${pasteSecret}. Without it every request is refused; you `
        + 'can add it later.'),
  ];
}
