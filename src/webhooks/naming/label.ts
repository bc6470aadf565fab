/** How webhooks are named in messages and metrics. */
/** What a webhook is known by; an outgoing one has no path segment. */
type NamedWebhook = {
  readonly identifier: string;
  readonly name?: string | undefined;
  readonly pathSegment?: string | undefined;
};

/** Stands in the label `hook` for webhooks that have no series of their own. */
export const OTHER_HOOKS = 'other';
/** Stands there for queued forwards, which belong to no outgoing webhook. */
export const FORWARDS = 'forward';

/** What people call a webhook: its name, else its path segment, else its identifier. */
export function callName({ name, pathSegment, identifier }: NamedWebhook): string {
  return name ?? pathSegment ?? identifier;
}

/** The value of the metrics' label `hook`: `callName`, unless that stands for something else. */
export function metricLabel(webhook: NamedWebhook): string {
  const label = callName(webhook);
  return label === OTHER_HOOKS || label === FORWARDS ? webhook.identifier : label;
}

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
