/**
 * The parts of the API's schemas that its routes need before any call: what applies themselves need
 * is loaded at the first of them.
 */
import type { MemberSchema, ObjectSchema } from '../../base/schema.ts';
import { slugSchema } from '../members/members.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';

/** `+`: a record is created; `~`: it is changed; `-`: it is deleted. */
export const PLAN_SIGNS = ['+', '~', '-'] as const;

const DEFAULT_SET = 'default';
/** The limit for the records of one kind. */
export const RECORDS_MAX = 10_000;

export const OPTION_MEMBERS: Readonly<Record<string, MemberSchema>> = {
  set: {
    schema: slugSchema, default: DEFAULT_SET,
    description: 'Whose records these are: `prune` deletes only what an apply of the same set made',
  },
  prune: {
    schema: { kind: 'boolean' }, default: false,
    description: 'Delete what an earlier apply of the set created and this document has no more',
  },
  dryRun: {
    schema: { kind: 'boolean' }, default: false,
    description: 'Answer the plan and do nothing: the scope `read` is enough for it',
  },
  noOverlap: {
    schema: { kind: 'boolean' }, default: false,
    description: 'A secret that changes ends at once; else it counts beside the new one for a day',
  },
  yes: {
    schema: { kind: 'boolean' }, default: false,
    description: 'Also do what is listed in `confirm` of a change, which is 409 else',
  },
};

/**
 * The schema for the API's documentation; `parseDocument` (configuration-document.ts) reads the
 * records one by one.
 */
export function createDocumentSchema(): ObjectSchema {
  const lists = RECORD_KINDS.map((kind) => [kind.member, {
    schema: { kind: 'array', items: createItemSchema(kind), maxItems: RECORDS_MAX }, default: [],
    description: `Each ${kind.noun} whole, found by its \`${kind.naming}\``,
  }] as const);
  return {
    kind: 'object', name: 'ConfigurationDocument',
    members: { ...Object.fromEntries(lists), ...OPTION_MEMBERS },
  };
}

/** The members of a record, the one that it is found by required. */
function createItemSchema({ schema, naming }: RecordKind): ObjectSchema {
  const { [naming]: member, ...members } = schema.members;
  if (member === undefined) return schema;
  return {
    ...schema, name: `Applied${schema.name}`,
    members: { [naming]: { ...member, isRequired: true }, ...members },
  };
}
