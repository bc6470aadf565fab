/** The schemas that the routes need before any call; the first call loads the rest. */
import type { ObjectSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf, type InputOf } from '../../base/schema-types.ts';
import { COUNT, TEXT, arraySchema, objectSchema } from '../../resources/route-specs.ts';
import { slugSchema } from '../members/members.ts';
import { KEEP_VALUES } from './keepable-members.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';

const changeSchema = objectSchema('PlannedChange', {
  sign: [
    { kind: 'string', values: ['+', '~', '-'] },
    '`+`: the record is created; `~`: it is changed; `-`: it is deleted',
  ],
  kind: { kind: 'string', values: RECORD_KINDS.map(({ noun }) => noun) },
  name: TEXT,
  members: [arraySchema(TEXT), 'With `~`: those that change, and `secret removed`'],
  details: [arraySchema(TEXT), 'With `~`: what becomes of each of them, without secrets'],
  confirm: [
    arraySchema(TEXT),
    'What the change does that nobody may mean: it is done only where the caller confirms it',
  ],
  waiting: [
    { kind: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    'With `-`: how many requests or deliveries wait for the webhook, if any do',
  ],
}, { optional: ['members', 'details', 'confirm', 'waiting'] });

export const planSchema = objectSchema('ConfigurationPlan', {
  changes: arraySchema(changeSchema),
  unchanged: [COUNT, 'How many records of the document are stored as it says them'],
  off: [
    arraySchema(TEXT), 'Which webhooks stay off, as the document does not say `enabled`, each with '
      + 'the command that switches it on',
  ],
  unlisted: [
    arraySchema(TEXT), 'Which records that an apply of the set created are not in the document, '
      + 'and stay: `prune` deletes them',
  ],
  kept: [
    arraySchema(TEXT), 'Which records keep members as they are stored, by `keep`, where the '
      + 'document has others: a text for all that keep the same',
  ],
  hints: [
    arraySchema(TEXT), 'Which outgoing webhooks that change have no condition, and hear what is '
      + 'not for the tokens alone that see them',
  ],
}, { optional: ['off', 'unlisted', 'kept', 'hints'] });

export type PlannedChange = AnswerOf<typeof changeSchema>;
export type ConfigurationPlan = AnswerOf<typeof planSchema>;

const DEFAULT_SET = 'default';
/** The limit for the records of one kind. */
export const RECORDS_MAX = 10_000;

const optionsSchema = describeObject({
  kind: 'object',
  members: {
    set: {
      schema: slugSchema, default: DEFAULT_SET,
      description: 'Whose records these are: `prune` deletes only what an apply of the same set '
        + 'made',
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
      description: 'A secret that changes ends at once; else it counts beside the new one for a '
        + 'day',
    },
    keep: {
      schema: {
        kind: 'array', items: { kind: 'string', values: KEEP_VALUES },
        maxItems: KEEP_VALUES.length, isUnique: true,
      },
      default: [],
      description: 'Members that stored outgoing webhooks keep, and `secret` incoming ones too, '
        + 'whatever the document says or a reference in their place. With `rotation` a webhook '
        + 'keeps its secret only where the document has one from before its rotation',
    },
    yes: {
      schema: { kind: 'boolean' }, default: false,
      description: 'Also do what is listed in `confirm` of a change, which is 409 else',
    },
  },
});

export const OPTION_MEMBERS = optionsSchema.members;
export type ApplyOptions = InputOf<typeof optionsSchema>;

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
