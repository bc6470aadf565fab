/**
 * The binding of a token: the outgoing webhooks that it is for, each entry the name of a webhook,
 * its identifier, or the beginning of names and a `*`. Entries are compared with the names of the
 * moment, so a webhook may come into a binding, and leave it, by its name. Pure.
 */
import { quote } from './text/error-message.ts';

export const BINDING_ENTRIES_MAX = 20;

/** A name as webhooks have it, an identifier, which has the same form, or a beginning and `*`. */
const ENTRY_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}\*?$/;

const ENTRY_RULE = 'the name of an outgoing webhook, its identifier, or the beginning of names and '
  + 'a * at its end, such as acme.*';

/** Says what is wrong with the entries of a binding; null: nothing. */
export function explainInvalidBinding(entries: readonly unknown[]): string | null {
  if (entries.length === 0) return 'must name a webhook; leave it out for a token of all webhooks';
  if (entries.length > BINDING_ENTRIES_MAX) {
    return `must have at most ${BINDING_ENTRIES_MAX} entries, not ${entries.length}`;
  }
  const wrongEntry = entries.find((entry) =>
    typeof entry !== 'string' || !ENTRY_PATTERN.test(entry));
  if (wrongEntry !== undefined) return `must each be ${ENTRY_RULE}, not ${quote(wrongEntry)}`;
  const repeatedEntry = entries.find((entry, index) => entries.indexOf(entry) !== index);
  return repeatedEntry === undefined ? null
    : `must be different, and ${quote(repeatedEntry)} stands twice`;
}

/** A webhook without a name is bound by its identifier alone. */
export type BoundWebhook = { readonly identifier: string; readonly name?: string | undefined };

/** The beginning of names that an entry stands for; null: it is a name, or an identifier. */
export function findBeginning(entry: string): string | null {
  return entry.endsWith('*') ? entry.slice(0, -1) : null;
}

/** Makes the test whether a binding has a webhook, as that is called now. */
export function createBindingTest(
  entries: readonly string[],
): (webhook: BoundWebhook) => boolean {
  const names = new Set(entries);
  const beginnings = entries.flatMap((entry) => findBeginning(entry) ?? []);
  return ({ identifier, name }) => names.has(identifier) || (name !== undefined
    && (names.has(name) || beginnings.some((beginning) => name.startsWith(beginning))));
}

/**
 * Lists every entry that a binding which has the webhook may have it by. They are looked up: to
 * test a thousand webhooks with as many bindings each takes a quarter of a second.
 */
export function listEntriesWith({ identifier, name = '' }: BoundWebhook): ReadonlySet<string> {
  const entries = new Set([identifier]);
  if (name !== '') entries.add(name);
  for (let length = 1; length <= name.length; length += 1) entries.add(`${name.slice(0, length)}*`);
  return entries;
}
