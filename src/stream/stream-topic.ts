/** What can be followed: the records of a collection, as the API shows them. */
import type { CollectionSpec } from '../store/store-port.ts';

export type StreamTopic = {
  /** As `topics` names it: `books`. */
  readonly name: string;
  /** As each event says it: `book`. */
  readonly event: string;
  readonly collection: CollectionSpec;
  /** Its records belong to webhooks, by which they can be selected. */
  readonly hasWebhooks: boolean;
  readonly describe: (record: Buffer) => TopicRecord;
};

type TopicRecord = {
  /** What callers see of it: one JSON object. */
  readonly json: string;
  /** The webhook that it belongs to. */
  readonly webhookId: string | null;
  /** It has not been written again since it was made. */
  readonly isNew: boolean;
};
