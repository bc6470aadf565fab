/**
 * Writes deliveries and events of version 1.0 in their present form, a chunk in each transaction.
 * It may be interrupted anywhere, also by a crash: each record is readable in both forms, and the
 * next call goes on with those that are left. An event whose deliveries are still being written is
 * left to a later call: its webhooks follow from its deliveries.
 */
import type { Store, Transaction } from '../../store/store-port.ts';
import { CHUNK_ITEMS_MAX, takeChunk } from '../durable-queue/queue-spec.ts';
import { visitInSteps } from '../durable-queue/stepped-scan.ts';
import { changeDeliveries, fanOutCollection } from './delivery-changes.ts';
import { isFormerDelivery, readWebhookId } from './delivery-codec.ts';
import { deliveryCollection } from './delivery.ts';
import {
  decodeEventHead, deleteFinishedMark, encodeConvertedEvent, eventCollection, isFinishedMarkId,
  isFormerEvent,
} from './event-record.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

type FormerRecord = { readonly id: string; readonly bytes: number };

/** How many records were converted, and whether none of the former form is left. */
type ConversionResult = { readonly count: number; readonly isComplete: boolean };

/** Converts all records, or those up to an abort of `closing`. */
export async function convertDeliveries(
  store: Store, closing: AbortSignal,
): Promise<ConversionResult> {
  const fanOuts = store.collection(fanOutCollection.name);
  let isComplete = true;
  const deliveries = await convertAll(store, closing, deliveryCollection.name,
    (id, record) => !isRouteDeliveryId(id) && isFormerDelivery(record), convertChunk);
  const events = await convertAll(store, closing, eventCollection.name,
    (id, record) => {
      if (isFinishedMarkId(id) || !isFormerEvent(record)) return false;
      if (fanOuts.findSlot(id) === -1) return true;
      isComplete = false;
      return false;
    },
    (transaction, ids) => {
      for (const id of ids) convertEvent(transaction, id);
    });
  return { count: deliveries + events, isComplete: isComplete && !closing.aborted };
}

async function convertAll(
  store: Store, closing: AbortSignal, collection: string,
  isFormer: (id: string, record: Buffer) => boolean,
  convert: (transaction: Transaction, ids: readonly string[]) => void,
): Promise<number> {
  let count = 0;
  let after: string | null = null;
  for (;;) {
    const formerRecords: readonly FormerRecord[] =
      await findFormerRecords(store, closing, collection, after, isFormer);
    const chunk = takeChunk(formerRecords, ({ bytes }) => bytes);
    const last = chunk.at(-1);
    if (last === undefined || closing.aborted) return count;
    const ids = chunk.map(({ id }) => id);
    await store.transact((transaction) => convert(transaction, ids));
    count += chunk.length;
    after = last.id;
  }
}

/** Finds the first records of the former form behind the id `after`, up to an abort. */
async function findFormerRecords(
  store: Store, closing: AbortSignal, name: string, after: string | null,
  isFormer: (id: string, record: Buffer) => boolean,
): Promise<readonly FormerRecord[]> {
  const collection = store.collection(name);
  const formerRecords: FormerRecord[] = [];
  await visitInSteps(collection, (record, slot) => {
    const id = collection.idAt(slot) ?? '';
    if (isFormer(id, record)) formerRecords.push({ id, bytes: record.length });
    return closing.aborted || formerRecords.length === CHUNK_ITEMS_MAX ? 'done' : 'searched';
  }, after);
  return formerRecords;
}

/** Every change of a delivery writes it in the present form, also one that changes nothing. */
function convertChunk(transaction: Transaction, ids: readonly string[]): void {
  changeDeliveries(transaction, (unit) => {
    for (const id of ids) {
      unit.change(id, (before) =>
        before.embeddedEvent !== null || before.embeddedBody !== null ? before : null);
    }
  });
}

function convertEvent(transaction: Transaction, id: string): void {
  const record = transaction.find(eventCollection.name, id);
  if (record === undefined || !isFormerEvent(record)) return;
  const { createdAt, name, deliveries } = decodeEventHead(record);
  const webhookIds = findDeliveryWebhookIds(transaction, deliveries);
  const event = { identifier: id, createdAt, name, deliveries, webhookIds };
  transaction.put(eventCollection.name, id, encodeConvertedEvent(event, record));
  deleteFinishedMark(transaction, id);
}

/** Finds the webhooks of an event's deliveries; null when one of these is gone. */
export function findDeliveryWebhookIds(
  transaction: Pick<Transaction, 'find'>, deliveries: readonly string[],
): readonly string[] | null {
  const webhookIds: string[] = [];
  for (const id of deliveries) {
    const record = transaction.find(deliveryCollection.name, id);
    const webhookId = record === undefined ? null : readWebhookId(record);
    if (webhookId === null) return null;
    webhookIds.push(webhookId);
  }
  return webhookIds;
}
