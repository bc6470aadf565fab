/** Which record holds which value of the members that no two records of a collection may share. */
import { isJsonObject } from '../../base/fields.ts';

const NONE: readonly undefined[] = [];

export class UniqueMembers {
  readonly members: readonly string[];
  readonly #idByValue = new Map<string, Map<string, string>>();
  readonly #valuesById = new Map<string, readonly (string | undefined)[]>();

  constructor(members: readonly string[]) {
    this.members = members;
    for (const member of members) this.#idByValue.set(member, new Map());
  }

  get isEmpty(): boolean {
    return this.members.length === 0;
  }

  find(member: string, value: string): string | undefined {
    return this.#idByValue.get(member)?.get(value);
  }

  put(id: string, bytes: Buffer | undefined): void {
    this.delete(id);
    const values = this.valuesOf(bytes === undefined ? '{}' : bytes.toString());
    this.#valuesById.set(id, values);
    for (const [index, value] of values.entries()) {
      if (value !== undefined) this.#idByValue.get(this.members[index] ?? '')?.set(value, id);
    }
  }

  delete(id: string): void {
    const values = this.#valuesById.get(id);
    if (values === undefined) return;
    this.#valuesById.delete(id);
    for (const [index, value] of values.entries()) {
      if (value !== undefined) this.#idByValue.get(this.members[index] ?? '')?.delete(value);
    }
  }

  /** A record's values in the order of `members`. */
  valuesOf(json: string): readonly (string | undefined)[] {
    if (this.isEmpty) return NONE;
    const record: unknown = JSON.parse(json);
    return this.members.map((member) => {
      const value = isJsonObject(record) ? record[member] : undefined;
      return typeof value === 'string' ? value : undefined;
    });
  }
}
