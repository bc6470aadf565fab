/** The members `name`, `description` and `retrySchedule`, which several resources have. */
import { TIMER_SECONDS_MAX } from '../../base/clock.ts';
import type {
  ArraySchema, JsonValue, MemberOption, MemberSchema, StringSchema,
} from '../../base/schema.ts';

const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const UUID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DESCRIPTION_LENGTH_MAX = 500;
const SCHEDULE_ITEMS_MAX = 100;

/** An identifier or a name that the caller chooses. */
export const slugSchema: StringSchema = {
  kind: 'string', pattern: SLUG_PATTERN,
  description: '1-64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
};

/** A webhook's name stands wherever its identifier may, so it must not be taken for one. */
export const nameSchema: StringSchema = {
  ...slugSchema,
  description: `${slugSchema.description}, and not of a UUID's form`,
  canonical: (value) => UUID_FORM.test(value) ? null : value,
};

/** How a command asks for a webhook's name. */
export const nameOption: MemberOption = {
  placeholder: '<slug>',
  help: 'what you call it, good for its identifier; a-z 0-9 . _ -, at most 64',
};

export const descriptionMember = {
  schema: { kind: 'string', maxLength: DESCRIPTION_LENGTH_MAX },
  description: 'For people: what it is for, whose it is',
} satisfies MemberSchema;

/** How a command asks for the action configuration of a webhook. */
export const configurationOption: MemberOption = {
  name: 'action-config', placeholder: '<identifier>', completes: 'action-configurations',
  help: 'identifier of the action configuration',
};

/** Seconds to wait before each retry. */
export const retryScheduleSchema = {
  kind: 'array', maxItems: SCHEDULE_ITEMS_MAX,
  items: { kind: 'number', minimum: 0, maximum: TIMER_SECONDS_MAX },
} satisfies ArraySchema;

/** The first value that is a text, such as a webhook's name or else its path; null: none is. */
export function firstText(...values: readonly (JsonValue | undefined)[]): string | null {
  return values.find((value) => typeof value === 'string') ?? null;
}
