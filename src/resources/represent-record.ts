/** Makes what callers see of a stored record. */
import { encodeJson } from '../base/json/encode.ts';
import type { StoredRecord } from '../store/store-port.ts';
import { decodeRecord, readUpdatedMs } from './record.ts';
import { Representation } from './representation.ts';
import type { Resource } from './resource.ts';

/** The part of a resource's description that says what callers see of its records. */
type ShownResource = Pick<Resource, 'collection' | 'toPublic' | 'observe'>;

/**
 * The representation of a stored record. One that is the stored bytes is cached beside them, as to
 * make it costs more than to find the record; one with bytes of its own would take too much memory.
 */
export function getRepresentation(
  resource: ShownResource, id: string, storedRecord: StoredRecord,
): Representation {
  const { bytes, representation: cachedRepresentation } = storedRecord;
  if (resource.toPublic !== undefined) return createRepresentation(resource, id, bytes);
  if (cachedRepresentation instanceof Representation) return cachedRepresentation;
  const representation = createRepresentation(resource, id, bytes);
  storedRecord.representation = representation;
  return representation;
}

export function createRepresentation(
  resource: ShownResource, id: string, bytes: Buffer,
): Representation {
  const { toPublic, observe, collection: { key } } = resource;
  const updatedMs = readUpdatedMs(key, id, bytes);
  if (toPublic === undefined || observe === undefined) {
    return new Representation(id, encodePublicRecord(resource, bytes), updatedMs);
  }
  const record = decodeRecord(bytes);
  const configuration = Buffer.from(encodeJson(toPublic(record)));
  const { members, changedAtMs } = observe(record);
  const observation = Buffer.from(encodeJson(members));
  return new Representation(id, joinObjects(configuration, observation), updatedMs,
    { configuration, observation, changedAtMs });
}

/** The JSON of a stored record as callers see it. */
export function encodePublicRecord({ toPublic, observe }: ShownResource, bytes: Buffer): Buffer {
  if (toPublic === undefined) return bytes;
  const record = decodeRecord(bytes);
  return Buffer.from(encodeJson({ ...toPublic(record), ...observe?.(record).members }));
}

/** Joins the JSON of two objects, neither of them empty, to one object. */
function joinObjects(left: Buffer, right: Buffer): Buffer {
  return Buffer.concat([left.subarray(0, -1), Buffer.from(','), right.subarray(1)]);
}
