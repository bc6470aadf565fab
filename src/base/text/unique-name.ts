/** Gives things names of which no two are the same. */

type NameOptions = {
  /** Stands before the number. */
  readonly separator: string;
  /** The limit for the name with its number. */
  readonly lengthMax?: number;
};

/** Takes the base, else the base with the first free number from 2. Adds it to the taken names. */
export function takeUniqueName(
  base: string, takenNames: Set<string>, { separator, lengthMax = Infinity }: NameOptions,
): string {
  let name = base.slice(0, lengthMax);
  for (let number = 2; takenNames.has(name); number += 1) {
    const ending = `${separator}${number}`;
    name = base.slice(0, lengthMax - ending.length) + ending;
  }
  takenNames.add(name);
  return name;
}
