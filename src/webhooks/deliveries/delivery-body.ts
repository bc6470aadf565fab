/**
 * The body of a delivery, where an action or a template has made one that is not the payload. It is
 * written before the first attempt and never again, so that every retry sends the same bytes. It is
 * a record of the collection `delivery-bodies`, and is deleted with its delivery:
 *
 *     {"identifier":"<delivery>","bodyText":"<body>"}
 */
import type { CollectionSpec, FindRecord } from '../../store/store-port.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { Delivery } from './delivery.ts';

export const deliveryBodyCollection: CollectionSpec = {
  name: 'delivery-bodies', key: 'identifier',
};

export function encodeBodyRecord(delivery: string, text: string): string {
  return `{"identifier":"${delivery}","bodyText":${JSON.stringify(text)}}`;
}

export function findMadeBody(find: FindRecord, { identifier, isPayload }: Delivery): Buffer | null {
  const bytes = isPayload ? undefined : find(deliveryBodyCollection.name, identifier);
  if (bytes === undefined) return null;
  const { bodyText } = decodeRecordAs<{ readonly bodyText: string }>(bytes, (record) =>
    typeof record['bodyText'] === 'string');
  return Buffer.from(bodyText, 'utf8');
}
