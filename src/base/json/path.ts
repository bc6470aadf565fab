/**
 * Paths into JSON values: member names and indexes of arrays, joined by dots. Templates, filters
 * and what is read of a sender's request all read them here. Only own members count. Pure.
 */
import { isJsonObject } from '../fields.ts';
import type { JsonValue } from '../schema.ts';

/** Names and indexes from the value on; empty is the value itself. */
export type JsonPath = readonly string[];

const INDEX = /^(0|[1-9][0-9]{0,8})$/;

/** Splits the text of a path; null: a step is empty. */
export function parsePath(text: string): JsonPath | null {
  const steps = text.split('.');
  return steps.includes('') ? null : steps;
}

/** The value that a path leads to; undefined: there is none. */
export function findValueAt(value: JsonValue, path: JsonPath): JsonValue | undefined;
export function findValueAt(value: unknown, path: JsonPath): unknown;
export function findValueAt(value: unknown, path: JsonPath): unknown {
  let current = value;
  for (const step of path) current = findOwnMember(current, step);
  return current;
}

/** An own member of an object, or an element of an array; undefined for anything else. */
export function findOwnMember(value: unknown, step: string): unknown {
  if (Array.isArray(value)) {
    return INDEX.test(step) && Object.hasOwn(value, step) ? value[Number(step)] : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
