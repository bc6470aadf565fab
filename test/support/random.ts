/** A seeded generator (mulberry32): one seed is one run, so a failure can be run again. */
export type Random = () => number;

/** Numbers in [0, 1). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number in [0, bound). */
export function below(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}
