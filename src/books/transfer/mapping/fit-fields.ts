/** Which fields of a source have room in the metadata of a book. */
import { findJsonProblem } from '../../../base/fields.ts';
import { countJsonBytes } from '../../../base/json/encode.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { Fields } from './format-table.ts';

type Room = {
  /** For the fields as members of a JSON object, a comma after each, beyond the stored ones. */
  readonly bytesMax: number;
  readonly depthMax: number;
  /** The members that are there already: one stays where the field of its name is left out. */
  readonly stored?: JsonObject;
};

type FittedFields = { readonly kept: Fields; readonly leftOut: readonly string[] };

/**
 * Fields that no metadata hold go (nested too deep, with half a character, or a number that is too
 * large), then the longest until the others fit; own ids go only where nothing else is left.
 */
export function fitFields(
  fields: Fields, ownIdFields: readonly string[], room: Room,
): FittedFields {
  const { bytesMax, depthMax, stored = {} } = room;
  const sizes = [...fields].map(([name, value]) => {
    const bytes = bytesOfMember(name, value);
    const bytesStored = Object.hasOwn(stored, name) ? bytesOfMember(name, stored[name]) : 0;
    return {
      name, bytes, growth: bytes - bytesStored,
      isUnfit: !name.isWellFormed() || findJsonProblem(value, depthMax) !== null,
      isOwnId: ownIdFields.includes(name),
    };
  });
  let bytesTotal = sizes.reduce((sum, { growth }) => sum + growth, 0);
  if (bytesTotal <= bytesMax && !sizes.some(({ isUnfit }) => isUnfit)) {
    return { kept: fields, leftOut: [] };
  }
  sizes.sort((left, right) => Number(right.isUnfit) - Number(left.isUnfit)
    || Number(left.isOwnId) - Number(right.isOwnId) || right.bytes - left.bytes);
  const kept = new Map(fields);
  const leftOut: string[] = [];
  for (const { name, growth, isUnfit } of sizes) {
    if (!isUnfit && bytesTotal <= bytesMax) break;
    // Without it there would be no more room.
    if (!isUnfit && growth <= 0) continue;
    kept.delete(name);
    leftOut.push(name);
    bytesTotal -= growth;
  }
  return { kept, leftOut };
}

/** `"name":value,` */
function bytesOfMember(name: string, value: unknown): number {
  return countJsonBytes([name, value]) - 1;
}
