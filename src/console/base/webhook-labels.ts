/** What people know webhooks by, for whoever shows an identifier of one. Read once a screen. */
import { getJson } from './api-calls.ts';

type LabelledWebhook = {
  readonly name?: string; readonly pathSegment?: string; readonly targetUrl?: string;
};
type ListedWebhook = LabelledWebhook & {
  readonly identifier: string; readonly verification?: { readonly preset: string };
};

export type WebhookLabel = {
  /** Its name; where it has none, its place. */
  readonly title: string;
  /** The path segment of an incoming webhook, host and path of an outgoing one. */
  readonly endpoint: string;
};

let incoming: ReadonlyMap<string, ListedWebhook> = new Map();
let outgoing: ReadonlyMap<string, ListedWebhook> = new Map();

export async function loadWebhookLabels(): Promise<void> {
  [incoming, outgoing] = await Promise.all([
    fetchWebhooks('/api/incoming-webhooks'), fetchWebhooks('/api/outgoing-webhooks'),
  ]);
}

async function fetchWebhooks(path: string): Promise<ReadonlyMap<string, ListedWebhook>> {
  const webhooks = await getJson<readonly ListedWebhook[]>(path);
  return new Map(webhooks.map((webhook) => [webhook.identifier, webhook]));
}

export function createWebhookLabel(
  { name, pathSegment, targetUrl = '' }: LabelledWebhook,
): WebhookLabel {
  const endpoint = pathSegment ?? formatHostAndPath(targetUrl);
  return { title: name ?? endpoint, endpoint };
}

/** Of one that is gone, the end of its identifier. */
export function resolveWebhookLabel(identifier: string | null): WebhookLabel {
  if (identifier === null) return { title: '–', endpoint: '–' };
  const webhook = incoming.get(identifier) ?? outgoing.get(identifier);
  if (webhook !== undefined) return createWebhookLabel(webhook);
  const end = `…${identifier.slice(-8)}`;
  return { title: end, endpoint: end };
}

/** As text: `crm (api.example.com/hooks)`. */
function formatWebhookName(identifier: string): string {
  const { title, endpoint } = resolveWebhookLabel(identifier);
  return title === endpoint ? title : `${title} (${endpoint})`;
}

/** Whether that is what somebody calls the webhook: its identifier, name or path segment. */
export function isWebhookCalled(identifier: string | null, calledName: string): boolean {
  const webhook = incoming.get(identifier ?? '') ?? outgoing.get(identifier ?? '');
  return identifier === calledName || (webhook !== undefined && isCalled(webhook, calledName));
}

function isCalled({ identifier, name, pathSegment }: ListedWebhook, calledName: string): boolean {
  return [identifier, name, pathSegment].includes(calledName);
}

/** The sender of an incoming webhook; undefined where it is an outgoing one. */
export function findPreset(identifier: string): string | undefined {
  const webhook = incoming.get(identifier);
  return webhook === undefined ? undefined : webhook.verification?.preset ?? '';
}

/** Path segments, which stand in addresses of the page. */
export function listIncomingPaths(): readonly string[] {
  return [...incoming.values()].map(({ pathSegment = '' }) => pathSegment).sort();
}

/** How the incoming webhook is shown that somebody calls so, in an address of the page. */
export function formatIncomingName(calledName: string): string {
  return formatNameAmong(incoming, calledName);
}

/** The same of an outgoing one. */
export function formatOutgoingName(calledName: string): string {
  return formatNameAmong(outgoing, calledName);
}

function formatNameAmong(webhooks: ReadonlyMap<string, ListedWebhook>, calledName: string): string {
  const webhook = [...webhooks.values()].find((candidate) => isCalled(candidate, calledName));
  return webhook === undefined ? calledName : formatWebhookName(webhook.identifier);
}

export function listOutgoingIds(): readonly string[] {
  return [...outgoing.keys()];
}

function formatHostAndPath(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return url;
  }
}
