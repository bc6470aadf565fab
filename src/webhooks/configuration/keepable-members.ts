/**
 * The members that an apply may leave to those who change them by hand: all that a customer may
 * change of his webhook with a token of the scope `write`, but `enabled`, which is left to him in
 * any case. A file of its own: the rows of the commands must not load the models.
 */
export const KEEPABLE_MEMBERS = [
  'secret', 'targetUrl', 'headers', 'description', 'rate', 'maxInFlight',
] as const;

/**
 * Keeps a secret only where the document has one from before its rotation: a server that applies a
 * file at each start gives new secrets of the file, and undoes no customer's rotation.
 */
export const ROTATION = 'rotation';

export const KEEP_VALUES = [...KEEPABLE_MEMBERS, ROTATION] as const;

/** Stands for all members on the command line. */
const ALL = 'all';

export const KEEP_OPTION_VALUES = [...KEEP_VALUES, ALL] as const;

/** The document's `keep` for the values of `--keep`. */
export function toKeepValues(values: readonly string[]): readonly string[] {
  return values.includes(ALL) ? KEEPABLE_MEMBERS : values;
}

/** Whether the member of a stored webhook may be kept, whatever the document has in its place. */
export function isKeepable(kind: string, member: string, keep: readonly string[]): boolean {
  return keep.includes(member)
    && (kind === 'outgoingWebhooks' || kind === 'incomingWebhooks' && member === 'secret');
}
