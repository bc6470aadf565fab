/** A new incoming webhook in three steps: its sender, its action, a test. */
import type { ScreenAddress } from '../../base/address.ts';
import { go, href } from '../../base/address.ts';
import { call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { heading } from '../../parts/facts.ts';
import { field } from '../../parts/forms/field.ts';
import type { Field } from '../../parts/forms/field.ts';
import { messageOf } from '../../base/api.ts';
import { showFailure, tell } from '../../parts/notice.ts';
import { nothing } from '../../parts/screen.ts';
import { actionChooser } from '../../parts/forms/action-chooser.ts';
import type { ActionChooser } from '../../parts/forms/action-chooser.ts';
import type { IncomingWebhook } from '../../../app/api.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/list.ts';

export function openNewIncoming(place: HTMLElement, _address: ScreenAddress): () => void {
  const show = async (): Promise<void> => {
    try {
      const [presets, chooser] = await Promise.all([
        get<readonly PresetDescription[]>('/api/verification-presets'), actionChooser(),
      ]);
      render(place, presets, chooser);
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
  };
  void show();
  return nothing;
}

function render(
  place: HTMLElement, presets: readonly PresetDescription[], chooser: ActionChooser,
): void {
  const path = text('pathSegment', 'The last part of the address that the sender calls', true);
  const sender = senderStep(presets);
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { type: 'submit', class: 'primary' }, 'Create it, then test it');
  const create = async (): Promise<void> => {
    problem.textContent = '';
    button.disabled = true;
    try {
      const { body } = await call<IncomingWebhook>('POST', '/api/incoming-webhooks', { body: {
        pathSegment: path.read() ?? '', ...sender.read(),
        actionConfiguration: await chooser.choose(),
      } });
      tell(`Created ${body.pathSegment}.`);
      go(['incoming', body.identifier], { step: 'test' });
    } catch (thrown) {
      problem.textContent = messageOf(thrown);
    } finally {
      button.disabled = false;
    }
  };
  fill(place, h('p', {}, h('a', { href: href(['incoming']) }, '← Incoming webhooks')),
    heading('A new incoming webhook'),
    h('form', { class: 'record', novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      void create();
    } },
    h('h2', {}, '1. Who sends'), path.element, ...sender.elements,
    h('h2', {}, '2. What is done'), chooser.element,
    h('h2', {}, '3. A test'), h('p', { class: 'hint' }, 'Once it is created, what to paste at the '
      + 'sender is shown, and a request signed as the sender would can be sent.'),
    problem, h('div', { class: 'actions' }, button)));
}

function senderStep(presets: readonly PresetDescription[]): {
  readonly elements: readonly HTMLElement[]; readonly read: () => Record<string, unknown>;
} {
  const secret = field({
    name: 'secret', isRequired: false, value: undefined,
    schema: { type: 'string', writeOnly: true, description: 'What the sender signs with' },
  });
  const choice = h('select', { id: 'preset' }, h('option', { value: '' },
    'anybody, or X-Signature with a secret'), ...presets.map(({ name, sender }) =>
    h('option', { value: name }, `${sender} (${name})`)));
  const hint = h('div', { class: 'hint' });
  const needs = h('div');
  let fields = new Map<string, Field>();
  choice.addEventListener('change', () => {
    const preset = presets.find(({ name }) => name === choice.value);
    fields = new Map(preset?.needs.map((name) => [name, name === 'scheme'
      ? field({ name, isRequired: true, value: undefined, schema: { type: 'object' } })
      : text(name, '', true)]));
    fill(needs, ...[...fields.values()].map(({ element }) => element));
    fill(hint, ...preset === undefined ? [] : [
      h('p', {}, preset.pasteUrl), h('p', {}, preset.pasteSecret),
    ]);
  });
  return {
    elements: [
      h('div', { class: 'field' }, h('label', { for: 'preset' }, 'Sender'), choice, hint),
      needs, secret.element,
    ],
    read() {
      const given = secret.read();
      const members = [...fields].map(([name, member]) => [name, member.read()]);
      return {
        ...given === undefined ? {} : { secret: given },
        ...choice.value === '' ? {}
          : { verification: { preset: choice.value, ...Object.fromEntries(members) } },
      };
    },
  };
}

function text(name: string, description: string, isRequired: boolean): Field {
  return field({
    name, isRequired, value: undefined,
    schema: { type: 'string', ...description === '' ? {} : { description } },
  });
}
