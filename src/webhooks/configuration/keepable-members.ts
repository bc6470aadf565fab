/**
 * The members that an apply may leave to those who change them by hand: all that a customer may
 * change of his webhook with a token of the scope `write`, but `enabled`, which is left to him in
 * any case. A file of its own: the rows of the commands must not load the models.
 */
export const KEEPABLE_MEMBERS = [
  'secret', 'targetUrl', 'headers', 'description', 'rate', 'maxInFlight',
] as const;

/** Stands for all of them on the command line. */
const ALL = 'all';

export const KEEP_VALUES = [...KEEPABLE_MEMBERS, ALL] as const;

/** Lists the members that the values of `--keep` name. */
export function listKeptMembers(values: readonly string[]): readonly string[] {
  return values.includes(ALL) ? KEEPABLE_MEMBERS : values;
}
