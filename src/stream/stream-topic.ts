/** A topic of the stream: the records of a collection, as the API shows them. */
import type { CollectionSpec, FindRecord } from '../store/store-port.ts';

export type StreamTopic = {
  /** Its name in the parameter `topics`, such as `books`. */
  readonly name: string;
  /** The name of its events, such as `book`. */
  readonly event: string;
  readonly collection: CollectionSpec;
  /** Whether its records belong to webhooks, by which readers can select them. */
  readonly hasWebhooks: boolean;
  /** Whether only readers that name it get its events; default: no. */
  readonly isOptional?: boolean;
  /** Whether a change is told; absent: each is. */
  readonly isTold?: (change: RecordChange) => boolean;
  /** Describes a record. `find` finds others that belong to it. */
  readonly describe: (record: Buffer, find: FindRecord) => TopicRecord;
  /**
   * Finds the record that a record of the collection is a part of; null: it stands for itself. The
   * change of a part is told as one of its owner. Absent: no record is a part.
   */
  readonly findOwner?: (id: string) => { readonly topic: StreamTopic; readonly id: string } | null;
};

/** A record before and after a change; null: there is none, undefined: it is not known. */
type RecordChange = {
  readonly id: string;
  readonly before: Buffer | null | undefined;
  readonly after: Buffer | null;
};

type TopicRecord = {
  /** The record as callers see it, one JSON object. */
  readonly json: string;
  readonly webhookId: string | null;
  /** Whether the record was not written again since it was created. */
  readonly isNew: boolean;
};
