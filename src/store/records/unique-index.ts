/** Which record holds which value of the member that no two records of a collection may share. */
import { isJsonObject } from '../../base/fields.ts';

export class UniqueIndex {
  /** Undefined where records may share every value; the index stays empty then. */
  readonly member: string | undefined;
  readonly #idByValue = new Map<string, string>();
  readonly #valueById = new Map<string, string>();

  constructor(member: string | undefined) {
    this.member = member;
  }

  /** The id of the record that holds a value. */
  find(value: string): string | undefined {
    return this.#idByValue.get(value);
  }

  put(id: string, bytes: Buffer | undefined): void {
    this.delete(id);
    const value = bytes === undefined ? undefined : this.valueOf(bytes);
    if (value === undefined) return;
    this.#valueById.set(id, value);
    this.#idByValue.set(value, id);
  }

  delete(id: string): void {
    const value = this.#valueById.get(id);
    if (value === undefined) return;
    this.#valueById.delete(id);
    this.#idByValue.delete(value);
  }

  /** What a record holds; undefined where it holds nothing. */
  valueOf(json: string | Buffer): string | undefined {
    if (this.member === undefined) return undefined;
    const record: unknown = JSON.parse(json.toString());
    const value = isJsonObject(record) ? record[this.member] : undefined;
    return typeof value === 'string' ? value : undefined;
  }
}
