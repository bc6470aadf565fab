/** The field for a member that has a preset, and further members that follow from it. */
import { fill, h, createSelect } from '../../base/dom.ts';
import { resolveSchema, type ModelSchema } from '../../base/model-schema.ts';
import { inputField, type Field, type FieldOptions } from './input-field.ts';
import { MemberFields } from './model-field.ts';

/** The value of the choice that has a scheme in place of a preset; no preset has such a name. */
export const SCHEME = '{}';

type PresetChoices = {
  /** The first stands for no value: its own is empty. */
  readonly choices: readonly (readonly [value: string, label: string])[];
  /** The further members of a choice, of the member's `model`. */
  readonly selectMembers: (model: ModelSchema, choice: string) => ModelSchema;
  /** Makes the value of a choice from its members, where that is more than a preset and they. */
  readonly toValue?: (choice: string, members: Readonly<Record<string, unknown>>) => unknown;
  /** Gets the choice, also once at the beginning. */
  readonly onChange?: (choice: string) => void;
};

export function presetField(
  options: FieldOptions, { choices, selectMembers, toValue = createValue, onChange }: PresetChoices,
): Field {
  const model = resolveSchema(options.schema);
  const { scheme, ...others }: { readonly preset?: string; readonly scheme?: unknown } =
    { ...options.value as object };
  const initialChoice = others.preset ?? (scheme === undefined ? '' : SCHEME);
  const select = createSelect(choices, initialChoice);
  const choice = inputField(options, select, () => select.value);
  const container = h('div.record');
  let members = new MemberFields({}, {});
  const show = (): void => {
    // The stored scheme is for the stored choice alone: another may have a field of that name.
    members = new MemberFields(selectMembers(model, select.value),
      select.value === initialChoice ? options.value : others, options.factories);
    fill(container, ...members.elements);
    onChange?.(select.value);
  };
  select.addEventListener('change', show);
  show();
  return {
    element: h('div.record', choice.element, container),
    read: () => select.value === '' ? undefined : toValue(select.value, members.read()),
    showError: (steps, detail) =>
      members.showError(steps, detail) || choice.showError([], detail),
    clearError() {
      choice.clearError();
      members.clearErrors();
    },
  };
}

function createValue(choice: string, members: Readonly<Record<string, unknown>>): unknown {
  return { ...choice === SCHEME ? {} : { preset: choice }, ...members };
}
