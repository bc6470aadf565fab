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
import type { Change, FindRecord, Operation } from '../store/store-port.ts';
import type { StreamTopic } from './stream-topic.ts';

/**
 * The point up to which a stream has been read. The position `57.2` is between two events of
 * transaction 57, so it is read as { sequence: 56, changesSeen: 2 }.
 */
export type StreamPosition = {
  /** The last transaction of which all changes were seen. */
  readonly sequence: number;
  /**
   * How many changes of the transaction after that one were seen, too: see `ChangeEvent.number`.
   */
  readonly changesSeen: number;
};

export type StreamFilter = {
  readonly topics: readonly StreamTopic[];
  /** null: events of any webhook, and events that belong to no webhook. */
  readonly webhookIds: readonly string[] | null;
  /** null: the reader sees everything. */
  readonly view: StreamView | null;
};

/** A reader with a view sees a part of the stream. */
export type StreamView = {
  /** Readers whose views have the same key see the same. */
  readonly key: string;
  readonly topics: readonly string[];
  /** The names of the topics that he gets without naming any. */
  readonly defaultTopics: readonly string[];
  /** The text of an event as he sees it now; null: he does not see it. */
  readonly show: (event: ChangeEvent) => string | null;
};

/** A change as readers get it. The event's id differs between readers. */
export type ChangeEvent = {
  readonly topic: StreamTopic;
  /**
   * The number of the change within its transaction, from 1 on. It counts the changes that any
   * topic has, selected or not, so that a number means the same to every reader.
   */
  readonly number: number;
  /** null: the record belongs to no webhook. Undefined: its webhook is not known any more. */
  readonly webhookId: string | null | undefined;
  /** The record after the change; null: it was deleted, or is on no disk. */
  readonly record: Buffer | null;
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
  // Transaction `sequence` was seen in part, so the last that was seen as a whole is the one
  // before.
  return { sequence: Number(sequence) - 1, changesSeen: Number(number) };
}

/**
 * Creates the events of a transaction for the topics that `isTopicSelected` takes. `topics` has all
 * topics by the name of their collection; changes of other collections are not numbered. Each item
 * is a `Change` when the transaction is sent live, and an `Operation` when it is read back from the
 * log. `findCommitted` finds what the transaction did not change.
 */
export function createChangeEvents(
  changes: readonly (Change | Operation)[], topics: ReadonlyMap<string, StreamTopic>,
  isTopicSelected: (topic: StreamTopic) => boolean, findCommitted: FindRecord,
): ChangeEvent[] {
  const find: FindRecord = (collection, id) => {
    const change = changes.find((other) => other.id === id && other.collection === collection);
    return change === undefined ? findCommitted(collection, id) : readAfter(change) ?? undefined;
  };
  const events: ChangeEvent[] = [];
  let number = 0;
  for (const change of changes) {
    const topic = topics.get(change.collection);
    if (topic === undefined) continue;
    number += 1;
    const owner = topic.findOwner?.(change.id) ?? null;
    if (!isTopicSelected(owner?.topic ?? topic)) continue;
    const { id } = change;
    const [before, after] = [readBefore(change), readAfter(change)];
    if (topic.isTold?.({ id, before, after }) === false) continue;
    const event = owner === null ? createChangeEvent(change, topic, number, find)
      : createOwnerEvent(owner, changes, number, find);
    if (event !== null) events.push(event);
  }
  return events;
}

/**
 * The record before a change; null: there was none. An `Operation` has `bytes`. The log holds no
 * former versions, so it is undefined then: it is not known.
 */
function readBefore(change: Change | Operation): Buffer | null | undefined {
  return 'bytes' in change ? undefined : change.before;
}

/** The record after a change; null: it was deleted. */
function readAfter(change: Change | Operation): Buffer | null {
  return 'bytes' in change ? change.bytes : change.after;
}

/** Returns null if the same transaction has changed the owner, which so has its own event. */
function createOwnerEvent(
  { topic, id }: { readonly topic: StreamTopic; readonly id: string },
  changes: readonly (Change | Operation)[], number: number, find: FindRecord,
): ChangeEvent | null {
  const { name } = topic.collection;
  if (changes.some((other) => other.collection === name && other.id === id)) return null;
  const record = find(name, id);
  if (record === undefined) return null;
  const { json, webhookId } = topic.describe(record, find);
  return { topic, number, webhookId, record, text: formatEvent(topic, 'updated', json) };
}

function createChangeEvent(
  change: Change | Operation, topic: StreamTopic, number: number, find: FindRecord,
): ChangeEvent {
  const { id } = change;
  const before = readBefore(change);
  const after = readAfter(change);
  if (after === null) {
    const webhookId = before ? topic.describe(before, find).webhookId : undefined;
    const json = `{"${topic.collection.key}":"${id}"}`;
    return { topic, number, webhookId, record: null, text: formatEvent(topic, 'deleted', json) };
  }
  const { json, webhookId, isNew } = topic.describe(after, find);
  const isCreated = before === undefined ? isNew : before === null;
  const text = formatEvent(topic, isCreated ? 'created' : 'updated', json);
  return { topic, number, webhookId, record: after, text };
}

/** The event without its id. */
export function formatEvent(
  { event }: StreamTopic, change: 'created' | 'updated' | 'deleted', json: string,
): string {
  return `event: ${event}\ndata: {"change":"${change}",${json.slice(1)}\n\n`;
}

/** The text of a transaction's events that the filter selects; `''` without any. */
export function encodeEvents(
  sequence: number, events: readonly ChangeEvent[], filter: StreamFilter,
): string {
  const selectedEvents = events.flatMap((event) => {
    const text = matchesFilter(event, filter) ? showEvent(event, filter) : null;
    return text === null ? [] : [{ number: event.number, text }];
  });
  const last = selectedEvents.length - 1;
  return selectedEvents.map(({ number, text }, index) =>
    `id: ${index === last ? sequence : `${sequence}.${number}`}\n${text}`).join('');
}

function showEvent(event: ChangeEvent, { view }: StreamFilter): string | null {
  return view === null ? event.text : view.show(event);
}

// A deletion whose webhook is unknown goes to all readers: one that never saw the record ignores
// it.
function matchesFilter({ topic, webhookId }: ChangeEvent, filter: StreamFilter): boolean {
  if (!filter.topics.includes(topic)) return false;
  if (filter.webhookIds === null) return true;
  return topic.hasWebhooks
    && (webhookId === undefined || (webhookId !== null && filter.webhookIds.includes(webhookId)));
}
