/**
 * Labels of webhooks, for screens that have only identifiers. A screen awaits `loadWebhookLabels`
 * once; the functions below it answer from what was fetched last.
 */
import { getJson } from './api-calls.ts';
import { callerSession } from './caller-session.ts';

type LabelMembers = {
  readonly name?: string; readonly pathSegment?: string; readonly targetUrl?: string;
};
type ListedWebhook = LabelMembers & {
  readonly identifier: string; readonly verification?: { readonly preset: string };
};

export type WebhookLabel = {
  /** The name; without one the endpoint. */
  readonly title: string;
  /** The path segment of an incoming webhook, host and path of an outgoing one. */
  readonly endpoint: string;
};

let incoming: ReadonlyMap<string, ListedWebhook> = new Map();
let outgoing: ReadonlyMap<string, ListedWebhook> = new Map();

export async function loadWebhookLabels(): Promise<void> {
  [incoming, outgoing] = await Promise.all([
    // A customer has none.
    callerSession.isCustomer ? new Map() : fetchWebhooks('/api/incoming-webhooks'),
    fetchWebhooks('/api/outgoing-webhooks'),
  ]);
}

async function fetchWebhooks(path: string): Promise<ReadonlyMap<string, ListedWebhook>> {
  const webhooks = await getJson<readonly ListedWebhook[]>(path);
  return new Map(webhooks.map((webhook) => [webhook.identifier, webhook]));
}

export function createWebhookLabel(
  { name, pathSegment, targetUrl = '' }: LabelMembers,
): WebhookLabel {
  const endpoint = pathSegment ?? formatHostAndPath(targetUrl);
  return { title: name ?? endpoint, endpoint };
}

/**
 * Returns the label of a webhook; for one that was removed, `calledPath`, else the end of its
 * identifier.
 */
export function resolveWebhookLabel(
  identifier: string | null, calledPath?: string,
): WebhookLabel {
  if (identifier === null) return { title: '–', endpoint: '–' };
  const webhook = incoming.get(identifier) ?? outgoing.get(identifier);
  if (webhook !== undefined) return createWebhookLabel(webhook);
  const endpoint = calledPath ?? `…${identifier.slice(-8)}`;
  return { title: endpoint, endpoint };
}

/** `crm (api.example.com/hooks)` */
function formatWebhookName(identifier: string): string {
  const { title, endpoint } = resolveWebhookLabel(identifier);
  return title === endpoint ? title : `${title} (${endpoint})`;
}

/** Whether the text names the webhook: by its identifier, name or path segment. */
export function isWebhookCalled(identifier: string | null, calledName: string): boolean {
  const webhook = incoming.get(identifier ?? '') ?? outgoing.get(identifier ?? '');
  return identifier === calledName || (webhook !== undefined && isCalled(webhook, calledName));
}

function isCalled({ identifier, name, pathSegment }: ListedWebhook, calledName: string): boolean {
  return [identifier, name, pathSegment].includes(calledName);
}

/** The preset of an incoming webhook, '' without one; undefined for an outgoing webhook. */
export function findPreset(identifier: string): string | undefined {
  const webhook = incoming.get(identifier);
  return webhook === undefined ? undefined : webhook.verification?.preset ?? '';
}

/** The screen that shows the webhook; null: it was removed. */
export function findWebhookScreen(identifier: string): 'incoming' | 'outgoing' | null {
  if (incoming.has(identifier)) return 'incoming';
  return outgoing.has(identifier) ? 'outgoing' : null;
}

/** The path segments of incoming webhooks, which addresses of screens use as names. */
export function listIncomingPaths(): readonly string[] {
  return [...incoming.values()].map(({ pathSegment = '' }) => pathSegment).sort();
}

/** Formats the incoming webhook that an address names; an unknown name stays as it is. */
export function formatIncomingName(calledName: string): string {
  return formatNameAmong(incoming, calledName);
}

/** Formats the webhook that an address names, the outgoing one of two with the same name. */
export function formatCalledName(calledName: string): string {
  return formatNameAmong(new Map([...outgoing, ...incoming]), calledName);
}

function formatNameAmong(webhooks: ReadonlyMap<string, ListedWebhook>, calledName: string): string {
  const webhook = [...webhooks.values()].find((candidate) => isCalled(candidate, calledName));
  return webhook === undefined ? calledName : formatWebhookName(webhook.identifier);
}

export function listOutgoingIds(): readonly string[] {
  return [...outgoing.keys()];
}

/** The identifiers of all webhooks, outgoing ones first. */
export function listWebhookIds(): readonly string[] {
  return [...outgoing.keys(), ...incoming.keys()];
}

function formatHostAndPath(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return url;
  }
}
