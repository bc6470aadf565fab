/** The secret of a webhook that is about to be made: made here, one's own, or none. */
import { h } from '../../base/dom.ts';
import { leaf } from '../../parts/forms/leaf.ts';
import type { Field, FieldOptions } from '../../parts/forms/leaf.ts';

const SECRET_BYTES = 32;
const CHOICES = [
  ['made', 'Make one, and show it once'], ['own', 'My own'],
  ['none', 'None: requests are not signed'],
] as const;

type SecretField = {
  readonly field: Field;
  /** Whether the secret was made here, so that it has to be shown. */
  readonly isMade: () => boolean;
};

export function newSecretField(options: FieldOptions): SecretField {
  const select = h('select', {}, ...CHOICES.map(([value, label]) => h('option', { value }, label)));
  const input = h('input', {
    type: 'password', autocomplete: 'new-password', hidden: true,
    'aria-label': 'My own secret', placeholder: 'My own secret',
  });
  select.addEventListener('change', () => {
    input.hidden = select.value !== 'own';
  });
  const isMade = (): boolean => select.value === 'made';
  const field = leaf(options, select, () => {
    if (isMade()) return makeSecret();
    return select.value === 'own' ? input.value : undefined;
  }, input);
  return { field, isMade };
}

/** In the shape of Standard Webhooks. */
function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
