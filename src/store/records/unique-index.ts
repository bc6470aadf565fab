/**
 * The index of the unique values of a collection: no two records may share a value (staging refuses
 * such a record; this index only follows committed records). All unique members share one
 * namespace: a record may have a value in two of its own members, but two records may not have the
 * value, even in different members.
 */
import { isJsonObject } from '../../base/fields.ts';

export type UniqueValue = { readonly member: string; readonly value: string };

export const NO_VALUES: readonly UniqueValue[] = [];

export class UniqueIndex {
  /** False for a collection without unique members: the index stays empty. */
  readonly isUsed: boolean;
  readonly #members: readonly string[];
  readonly #idByValue = new Map<string, string>();
  readonly #valuesById = new Map<string, readonly UniqueValue[]>();

  constructor(members: readonly string[] = []) {
    this.#members = members;
    this.isUsed = members.length > 0;
  }

  /** The id of the record that holds each value. */
  get idByValue(): ReadonlyMap<string, string> {
    return this.#idByValue;
  }

  findId(value: string): string | undefined {
    return this.#idByValue.get(value);
  }

  findValues(id: string): readonly UniqueValue[] {
    return this.#valuesById.get(id) ?? NO_VALUES;
  }

  /** Replaces the values of a record; without bytes it only removes them, as `delete` does. */
  put(id: string, bytes: Buffer | undefined): void {
    this.delete(id);
    const values = bytes === undefined ? NO_VALUES : this.parseValues(bytes);
    if (values.length === 0) return;
    this.#valuesById.set(id, values);
    for (const { value } of values) this.#idByValue.set(value, id);
  }

  delete(id: string): void {
    for (const { value } of this.findValues(id)) {
      // If another record was put with this value before this one gave it up, it keeps the value.
      if (this.#idByValue.get(value) === id) this.#idByValue.delete(value);
    }
    this.#valuesById.delete(id);
  }

  parseValues(json: string | Buffer): readonly UniqueValue[] {
    const record: unknown = JSON.parse(json.toString());
    if (!isJsonObject(record)) return NO_VALUES;
    return this.#members.flatMap((member) => {
      const value = record[member];
      return typeof value === 'string' ? [{ member, value }] : [];
    });
  }
}
