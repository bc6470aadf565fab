/** Which fields of a source have room in the metadata of a book. */
import { isDeeperThan } from '../../../base/json/encode.ts';
import type { Fields } from './format-table.ts';

type Room = {
  /** For the fields as members of a JSON object, a comma after each. */
  readonly bytesMax: number;
  readonly depthMax: number;
};

type FittedFields = { readonly kept: Fields; readonly leftOut: readonly string[] };

/**
 * Fields that are nested too deep go, then the longest until the others fit; own ids go only where
 * nothing else is left.
 */
export function fitFields(
  fields: Fields, ownIdFields: readonly string[], { bytesMax, depthMax }: Room,
): FittedFields {
  const sizes = [...fields].map(([name, value]) => ({
    name, bytes: bytesOfMember(name, value), isTooDeep: isDeeperThan(value, depthMax),
    isOwnId: ownIdFields.includes(name),
  }));
  let bytesTotal = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (bytesTotal <= bytesMax && !sizes.some(({ isTooDeep }) => isTooDeep)) {
    return { kept: fields, leftOut: [] };
  }
  sizes.sort((left, right) => Number(right.isTooDeep) - Number(left.isTooDeep)
    || Number(left.isOwnId) - Number(right.isOwnId) || right.bytes - left.bytes);
  const kept = new Map(fields);
  const leftOut: string[] = [];
  for (const { name, bytes, isTooDeep } of sizes) {
    if (!isTooDeep && bytesTotal <= bytesMax) break;
    kept.delete(name);
    leftOut.push(name);
    bytesTotal -= bytes;
  }
  return { kept, leftOut };
}

/** `"name":value,` */
function bytesOfMember(name: string, value: unknown): number {
  return Buffer.byteLength(JSON.stringify([name, value])) - 1;
}
