/** Members of the objects in a record beside its own, by dotted names: `reading.rating`. Pure. */

export type RecordMembers = Readonly<Record<string, unknown>>;

/** The members of the objects of these names stand in their place, one by one. */
export function separateMembers(
  record: RecordMembers, outerNames: readonly string[],
): RecordMembers {
  return Object.fromEntries(Object.entries(record).flatMap(([name, value]) =>
    !outerNames.includes(name) ? [[name, value] as const]
      : Object.entries(Object(value)).map(([inner, member]) =>
        [`${name}.${inner}`, member] as const)));
}

/** The record of separate members. An undefined value is an absent member. */
export function joinMembers(
  members: readonly (readonly [name: string, value: unknown])[],
): RecordMembers {
  const record: Record<string, unknown> = {};
  for (const [name, value] of members) {
    const [outer = '', inner] = name.split('.');
    if (value === undefined) continue;
    record[outer] = inner === undefined ? value : { ...Object(record[outer]), [inner]: value };
  }
  return record;
}
