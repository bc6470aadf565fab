/**
 * Paths into JSON values: member names and indexes of arrays, joined by dots. Templates, filters
 * and what is read of a sender's request all read them here. Only own members count. Pure.
 */
import { isJsonObject } from '../fields.ts';
import type { JsonValue } from '../schema.ts';

/** Names and indexes from the value on; empty is the value itself. */
export type Path = readonly string[];

const INDEX = /^(0|[1-9][0-9]{0,8})$/;

/** null: a step is empty. */
export function parsePath(text: string): Path | null {
  const steps = text.split('.');
  return steps.includes('') ? null : steps;
}

/** undefined: nothing stands there. */
export function valueAt(value: JsonValue, path: Path): JsonValue | undefined;
export function valueAt(value: unknown, path: Path): unknown;
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) found = memberOf(found, step);
  return found;
}

/** An own member of an object, or an element of an array; undefined for anything else. */
export function memberOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) {
    return INDEX.test(step) && Object.hasOwn(value, step) ? value[Number(step)] : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
