/** Webhooks by what callers name them. */

/** What a webhook is known by. */
type NamedWebhook = { readonly identifier: string; readonly name?: string | undefined };

/** The webhooks of one kind. */
export interface WebhookDirectory {
  find(identifier: string): NamedWebhook | undefined;
  /** By identifier, or by another name of it; the identifier counts first. */
  findNamed(name: string): NamedWebhook | undefined;
}

/** The directory of each kind. */
export type WebhookDirectories = Readonly<Record<'incoming' | 'outgoing', WebhookDirectory>>;

/** The identifier of the webhook that a caller names; what names none is given back as it is. */
export function resolveHook(directory: WebhookDirectory, name: string): string {
  return directory.findNamed(name)?.identifier ?? name;
}

/** The same for both kinds, as a name may stand for a webhook of each. */
export function resolveHooks(directories: WebhookDirectories, name: string): readonly string[] {
  const found = Object.values(directories).flatMap((directory) => directory.findNamed(name) ?? []);
  return found.length === 0 ? [name] : found.map(({ identifier }) => identifier);
}
