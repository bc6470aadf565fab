/** A new incoming webhook in three steps: its sender, its action, a test. */
import { ApiError, callApi, getJson, messageOf } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { parsePointer } from '../../base/field-problem.ts';
import { loadModel, pickMembers, type ModelSchema } from '../../base/model-schema.ts';
import { apiPath } from '../../base/screen-address.ts';
import { listIncomingPaths, loadWebhookLabels } from '../../base/webhook-labels.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { ActionCatalog } from '../../parts/forms/action-fields.ts';
import { InputError, type Field, type FieldOptions } from '../../parts/forms/input-field.ts';
import { modelField } from '../../parts/forms/model-field.ts';
import { asyncForm, recordForm, submitButton } from '../../parts/forms/record-form.ts';
import { guardForm } from '../../parts/forms/unsaved-forms.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import { keepNewSecret } from '../../parts/rotate-secret.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { ServiceStatus } from '../../../monitoring/monitoring-schema.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';
import { INCOMING_MODEL, createSenderFields } from './incoming-forms.ts';

const STEPS = ['Who sends', 'What is done', 'Test'];
/** In place of hints of the model, which are about a webhook that is there already. */
const HINTS = {
  pathSegment: 'The end of the address that its sender calls: of letters, digits, `.`, `_`, `~` '
    + 'and `-`. No other incoming webhook may have it as its name or path.',
  secret: 'Requests are checked against it: a key, a token, a public key or a certificate.',
} as const;
/** The members of the first step. */
const SENDER_MEMBERS =
  ['verification', 'pathSegment', 'secret', 'name', 'description', 'inbox'];

export function openNewIncoming(container: HTMLElement): () => void {
  return openView(container, async () => {
    const [model, presets, actions, { server }] = await Promise.all([
      loadModel(INCOMING_MODEL),
      getJson<readonly PresetDescription[]>('/api/verification-presets'), ActionCatalog.load(),
      getJson<ServiceStatus>('/api/status'), loadWebhookLabels(),
    ]);
    render(container, pickMembers(model, SENDER_MEMBERS), presets, actions, server.baseUri);
  });
}

function render(
  container: HTMLElement, schema: ModelSchema, presets: readonly PresetDescription[],
  actions: ActionCatalog, baseUri: string,
): void {
  const steps = h('div');
  const hint = h('div.hint');
  let preset: PresetDescription | null = null;
  /** The path that was filled in for the user. */
  let proposedPath = '';
  const findPath = (): HTMLInputElement | null => container.querySelector('[name="pathSegment"]');
  const showHint = (): void => {
    const path = findPath()?.value || '<path>';
    fill(hint, ...renderHint(preset, `${baseUri}/webhook/in/${path}`));
  };
  const senderFields = createSenderFields(presets, (chosenPreset) => {
    preset = chosenPreset;
    const path = findPath();
    if (path !== null && ['', proposedPath].includes(path.value)) {
      proposedPath = proposePath(chosenPreset?.name ?? '');
      path.value = proposedPath;
    }
    showHint();
  });
  const sender = recordForm({
    schema,
    factories: {
      ...senderFields,
      pathSegment: (options) => hintedField(options, HINTS.pathSegment),
      secret: (options) => hintedField(options, HINTS.secret),
    },
    // Without its requests nobody sees, while setting it up, what came and what the action said.
    value: { inbox: 'all' }, action: 'Next: what is done', extra: [hint],
    save: async (value) => {
      await checkSender(value);
      show(2);
    },
  });
  sender.element.addEventListener('input', showHint);
  const create = async (value: Record<string, unknown>): Promise<void> => {
    const { body } = await callApi<IncomingWebhook>('POST', '/api/incoming-webhooks',
      { body: value });
    if (preset?.secretFrom === 'here' && value['secret'] === undefined) await makeSecret(body);
    showNotice(`${body.pathSegment} is there.`);
    goIfStillHere(container, ['incoming', body.identifier], { step: 'test' });
  };
  const createWith = async (actionConfiguration: string): Promise<void> => {
    try {
      await create({ ...sender.read(), actionConfiguration });
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.problem.errors === undefined) throw thrown;
      show(1);
      sender.showErrors(thrown);
    }
  };
  const chooser = actions.createChooser(() => findPath()?.value ?? '');
  const action = createActionStep(chooser, () => show(1), createWith);
  function show(step: number): void {
    fill(steps, stepList(step));
    sender.element.hidden = step !== 1;
    action.hidden = step !== 2;
    const [visibleStep] = [sender.element, action].filter(({ hidden }) => !hidden);
    visibleStep?.querySelector<HTMLElement>('select, input')?.focus();
  }
  fill(container, backLink('incoming', 'Incoming webhooks'),
    heading('A new incoming webhook'), steps, sender.element, action);
  show(1);
}

/** The form for the secret of a webhook that has none; `onSaved` is called afterwards. */
export function secretForm(
  model: ModelSchema, path: string, onSaved: () => Promise<void>,
): HTMLElement {
  return recordForm({
    schema: pickMembers(model, ['secret']), value: {}, action: 'Save the secret',
    factories: { secret: (options) => hintedField(options, HINTS.secret) },
    save: async (value) => {
      if (value['secret'] === undefined) throw new InputError('Secret: it is empty.');
      await callApi('PATCH', path, { body: value });
      showNotice('Saved.');
      await onSaved();
    },
  }).element;
}

function hintedField(options: FieldOptions, hint: string): Field {
  return modelField({ ...options, schema: { ...options.schema, 'x-form': { hint } } });
}

/** `github`, or `github-2` where another webhook has that path. */
function proposePath(name: string): string {
  const paths = listIncomingPaths();
  let path = name;
  for (let number = 2; paths.includes(path); number += 1) path = `${name}-${number}`;
  return path;
}

/**
 * Throws ApiError for what the server would refuse of the first step. It stores nothing: a webhook
 * without an action is refused.
 */
async function checkSender(value: Record<string, unknown>): Promise<void> {
  const { pathSegment } = value;
  try {
    await callApi('POST', '/api/incoming-webhooks', { body: value });
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 422) throw thrown;
    const errors = thrown.problem.errors?.filter(({ pointer }) =>
      SENDER_MEMBERS.includes(parsePointer(pointer)[0] ?? '')) ?? [];
    if (errors.length > 0) throw new ApiError({ ...thrown.problem, errors });
  }
  await loadWebhookLabels();
  if (!listIncomingPaths().includes(String(pathSegment))) return;
  throw new ApiError({ status: 409, errors: [{
    pointer: '/pathSegment', detail: `${String(pathSegment)} is taken: another webhook has it`,
  }] });
}

/** `step` counts from 1. */
export function stepList(step: number): HTMLElement {
  return h('ol.steps', {}, ...STEPS.map((title, index) =>
    h('li', { 'aria-current': index + 1 === step ? 'step' : null }, title)));
}

function createActionStep(
  chooser: ReturnType<ActionCatalog['createChooser']>, back: () => void,
  create: (identifier: string) => Promise<void>,
): HTMLElement {
  const problem = h('p.problem', { role: 'alert' });
  const button = submitButton('Create it, then test it');
  const run = async (): Promise<void> => {
    problem.textContent = '';
    try {
      await create(await chooser.choose());
    } catch (thrown) {
      problem.textContent = messageOf(thrown);
    }
  };
  const form = asyncForm(button, run, chooser.element, problem,
    // Not back while it is created: of a form that has changed.
    h('div.actions', asyncButton('Back', async () => back()), button));
  guardForm(form);
  return form;
}

/** Has the server generate a secret, which the next step shows. */
async function makeSecret({ identifier }: IncomingWebhook): Promise<void> {
  const path = apiPath('incoming-webhooks', identifier, 'rotate-secret');
  try {
    const { body } = await callApi<{ readonly secret?: string }>('POST', path, { body: {} });
    if (body.secret !== undefined) keepNewSecret(identifier, body.secret);
  } catch (thrown) {
    showFailureNotice(thrown);
  }
}

function renderHint(preset: PresetDescription | null, url: string): HTMLElement[] {
  const address = h('p', 'The sender calls ', h('code', url), '.');
  if (preset === null) {
    return [address, h('p', 'Without a secret, whoever knows the address can call it. With one, '
      + 'the caller signs each request in the header ', h('code', 'X-Signature'), '.')];
  }
  const { sender, pasteUrl, pasteSecret, secretFrom } = preset;
  return [
    address, h('p', `At ${sender} the address goes to: ${pasteUrl}.`),
    h('p', secretFrom === 'here'
      ? `Leave the secret empty and one is made. The last step shows it, for: ${pasteSecret}.`
      : `${sender} makes the secret: ${pasteSecret}. Without it every request is refused; you `
        + 'can add it later.'),
  ];
}
