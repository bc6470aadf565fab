/** Finds webhooks by the identifier or the name that a caller gives. */

type NamedWebhook = { readonly identifier: string; readonly name?: string | undefined };

export interface WebhookDirectory {
  find(identifier: string): NamedWebhook | undefined;
  /** Finds a webhook by its identifier, or else by its name or path segment. */
  findNamed(name: string): NamedWebhook | undefined;
}

export type WebhookDirectories = Readonly<Record<'incoming' | 'outgoing', WebhookDirectory>>;

/** The identifier of the webhook with this name; the name itself if there is none. */
export function resolveHook(directory: WebhookDirectory, name: string): string {
  return directory.findNamed(name)?.identifier ?? name;
}

/** Does as `resolveHook`: an incoming and an outgoing webhook may have the same name. */
export function resolveHooks(
  { incoming, outgoing }: WebhookDirectories, name: string,
): readonly string[] {
  const webhooks = [incoming, outgoing].flatMap((directory) => directory.findNamed(name) ?? []);
  return webhooks.length === 0 ? [name] : webhooks.map(({ identifier }) => identifier);
}
