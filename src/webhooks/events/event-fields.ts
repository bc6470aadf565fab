/** The fields that the list of events filters by. Queued forwards are no events. */
import { AppError } from '../../base/errors.ts';
import { NAME_PATTERN_RULE, createNameTest } from '../../base/event-name.ts';
import { quote } from '../../base/text/error-message.ts';
import {
  EVENT_SOURCE_NAMES, parseReceivers, type EventSource, type EventHead,
} from '../deliveries/event-record.ts';
import type { Visibility } from '../members/visibility.ts';
import {
  SharedTextColumn, type SlotTest, type TextCriterion, type TimeSpan,
} from '../records/columns.ts';
import {
  choiceField, flagField, textField, timeField, type RecordField, type RecordFields,
} from '../records/fields.ts';

type NameTest = (name: string) => boolean;

/** An event as its fields have it. */
export type ListedEvent = Pick<EventHead, 'name' | 'source' | 'key' | 'createdAt'>
  & {
    /** See `readReceivers`; absent: none. */
    readonly receivers?: string;
  };

export type EventFilter = {
  readonly name: NameTest | null;
  readonly source: EventSource | null;
  readonly heard: boolean | null;
  readonly key: string | null;
  /** The identifier of a webhook, or a test of identifiers. */
  readonly hook: TextCriterion | null;
  readonly time: TimeSpan | null;
};

/** Restricts a filter to what a bound token sees. `isSearch`: it looks into payloads as well. */
export function restrictEvents(
  filter: EventFilter, visibility: Visibility, isSearch: boolean,
): EventFilter {
  const { hook, key, source } = filter;
  const readsPayloads = isSearch || key !== null || source !== null;
  // Comparing a foreign identifier would take longer than that of no webhook: the time would tell
  // it.
  const comparedHook = typeof hook === 'string' && !visibility.seesWebhook(hook) ? '' : hook;
  return {
    ...filter,
    hook: (identifier) => (comparedHook === null || comparedHook === identifier)
      && (readsPayloads ? visibility.seesPayloadsOf(identifier)
        : visibility.seesWebhook(identifier)),
  };
}

const nameField: RecordField<ListedEvent, NameTest> = {
  parameters: {
    name: {
      schema: { kind: 'string' },
      description: 'Only those of this name; or of all names that begin so, as `book.*`; or `*`',
      option: { placeholder: '<event | prefix.*>' },
    },
  },
  parse: (query) => parseNamePattern(query.get('name')),
  isMet: (isName, { name }) => name !== null && isName(name),
  createColumn: () => new SharedTextColumn(({ name }) => name),
};

export const eventFields: RecordFields<ListedEvent, EventFilter> = {
  name: nameField,
  source: choiceField('source', 'Only these', EVENT_SOURCE_NAMES, ({ source }) => source),
  heard: flagField('heard',
    '`true`: only those that have or had a delivery; `false`: only the others',
    ({ receivers = '' }) => receivers !== ''),
  key: textField('key', 'Only those of this key', ({ key }) => key,
    { isRare: true, option: { placeholder: '<key>' } }),
  hook: {
    ...textField<ListedEvent>('hook',
      'Only those that have or had a delivery to this outgoing webhook: its identifier or name',
      () => null, { option: { placeholder: '<id or name>', completes: 'outgoing-webhooks' } }),
    isMet: (criterion, { receivers = '' }) => hasReceiver(criterion, receivers),
    createColumn: () => new ReceiverColumn(),
  },
  time: timeField('Created', ({ createdAt }) => createdAt),
};

/** Most events have the same webhooks as many others. */
class ReceiverColumn extends SharedTextColumn<ListedEvent> {
  constructor() {
    super(({ receivers = null }) => receivers, { listsSlots: true });
  }

  override createTest(criterion: TextCriterion): SlotTest {
    return super.createTest((receivers) => hasReceiver(criterion, receivers));
  }

  override listSlots(criterion: TextCriterion, max: number): number[] | null {
    return super.listSlots((receivers) => hasReceiver(criterion, receivers), max);
  }
}

/** Compares whole members: the text between two of them is no identifier. */
function hasReceiver(criterion: TextCriterion, receivers: string): boolean {
  return typeof criterion === 'function' ? parseReceivers(receivers).some(criterion)
    : `,${receivers},`.includes(`,${JSON.stringify(criterion)},`);
}

/** Parses a name, or a beginning of names as in a trigger. Throws `malformed`. */
function parseNamePattern(pattern: string | undefined): NameTest | null {
  if (pattern === undefined) return null;
  const isName = createNameTest(pattern);
  if (isName !== null) return isName;
  throw new AppError('malformed', `\`name\` must be ${NAME_PATTERN_RULE}, not ${quote(pattern)}`);
}
