/**
 * The format of the stream, server-sent events (HTML Living Standard §9.2):
 *
 *   id: <position>
 *   event: <the topic's event>
 *   data: {"change":"created|updated|deleted", …the record's members}
 *
 * and an empty line. A deleted record has its key alone, as the log holds no more of it. A position
 * is the sequence of a transaction, `57`: everything up to its end has been seen. When a reader
 * gets several events of one transaction, the last has its sequence as id, and the others the
 * number of their change behind it, `57.2`, so that a reader can resume between them.
 */
import { AppError } from '../base/errors.ts';
import { quote } from '../base/text/error-message.ts';
import type { Change, Operation } from '../store/store-port.ts';
import type { StreamTopic } from './stream-topic.ts';

/** The point up to which a stream has been read. */
export type StreamPosition = {
  readonly sequence: number;
  /** Changes of the next transaction that were seen, too. */
  readonly changesSeen: number;
};

export type StreamFilter = {
  readonly topics: readonly StreamTopic[];
  /** null: events of all webhooks, and those of none. */
  readonly webhookIds: readonly string[] | null;
};

/** A change as readers get it. The event's id differs between readers. */
export type ChangeEvent = {
  readonly topic: StreamTopic;
  /** The number of the change within its transaction, from 1 on. */
  readonly number: number;
  /** null: the record belongs to no webhook. Undefined: to which is not known any more. */
  readonly webhookId: string | null | undefined;
  /** The event without its id. */
  readonly text: string;
};

const POSITION_PATTERN = /^(\d{1,15})(?:\.([1-9]\d{0,8}))?$/;

/** Throws `malformed`. */
export function parsePosition(text: string): StreamPosition {
  const [, sequence, number] = POSITION_PATTERN.exec(text) ?? [];
  if (sequence === undefined || (number !== undefined && Number(sequence) === 0)) {
    throw new AppError('malformed', '`Last-Event-ID` must be the id of an event of this stream, '
      + `not ${quote(text)}`);
  }
  if (number === undefined) return { sequence: Number(sequence), changesSeen: 0 };
  return { sequence: Number(sequence) - 1, changesSeen: Number(number) };
}

/** The events of a transaction, numbered by `topics`, of those topics that are selected. */
export function createChangeEvents(
  changes: readonly (Change | Operation)[], topics: ReadonlyMap<string, StreamTopic>,
  isSelected: (topic: StreamTopic) => boolean,
): ChangeEvent[] {
  const events: ChangeEvent[] = [];
  let number = 0;
  for (const change of changes) {
    const topic = topics.get(change.collection);
    if (topic === undefined) continue;
    number += 1;
    if (isSelected(topic)) events.push(createChangeEvent(change, topic, number));
  }
  return events;
}

function createChangeEvent(
  change: Change | Operation, topic: StreamTopic, number: number,
): ChangeEvent {
  const { id } = change;
  // The log holds no former versions.
  const [before, after] = 'bytes' in change ? [undefined, change.bytes]
    : [change.before, change.after];
  if (after === null) {
    const webhookId = before ? topic.describe(before).webhookId : undefined;
    const json = `{"${topic.collection.key}":"${id}"}`;
    return { topic, number, webhookId, text: formatEvent(topic, 'deleted', json) };
  }
  const { json, webhookId, isNew } = topic.describe(after);
  const isCreated = before === undefined ? isNew : before === null;
  const text = formatEvent(topic, isCreated ? 'created' : 'updated', json);
  return { topic, number, webhookId, text };
}

/** The event without its id. */
export function formatEvent(
  { event }: StreamTopic, change: 'created' | 'updated' | 'deleted', json: string,
): string {
  return `event: ${event}\ndata: {"change":"${change}",${json.slice(1)}\n\n`;
}

/** The text of a transaction's events that the filter selects; `''` without any. */
export function encodeEvents(
  sequence: number, changes: readonly ChangeEvent[], filter: StreamFilter,
): string {
  const selectedChanges = changes.filter((change) => isSelected(change, filter));
  const last = selectedChanges.length - 1;
  return selectedChanges.map(({ number, text }, index) =>
    `id: ${index === last ? sequence : `${sequence}.${number}`}\n${text}`).join('');
}

// A deletion whose webhook is unknown goes to all readers: one that never saw the record ignores
// it.
function isSelected({ topic, webhookId }: ChangeEvent, filter: StreamFilter): boolean {
  if (!filter.topics.includes(topic)) return false;
  if (filter.webhookIds === null) return true;
  return topic.hasWebhooks
    && (webhookId === undefined || (webhookId !== null && filter.webhookIds.includes(webhookId)));
}
