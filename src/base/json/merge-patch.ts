/**
 * JSON Merge Patch (RFC 7396). Pure: neither argument is changed, and a member named `__proto__`
 * is a member like any other.
 */
import { isJsonObject } from '../fields.ts';

/**
 * `target` with `patch` applied: its members replace the target's, null removes one, objects are
 * merged member by member, anything else (arrays too) replaces as a whole. Members keep their
 * order; new ones follow. Recurses as deep as the patch, which the JSON reader bounds.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  // Built as a map: assigning to an object would take `__proto__` for its prototype.
  const members = new Map<string, unknown>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, applyMergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}
