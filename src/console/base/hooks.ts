/** What people know webhooks by, for whoever shows an identifier of one. Read once a screen. */
import { get } from './api.ts';

type LabelledHook = {
  readonly name?: string; readonly pathSegment?: string; readonly targetUrl?: string;
};
type ListedHook = LabelledHook & {
  readonly identifier: string; readonly verification?: { readonly preset: string };
};

export type HookLabel = {
  /** Its name; where it has none, its place. */
  readonly title: string;
  /** The path segment of an incoming webhook, host and path of an outgoing one. */
  readonly place: string;
};

let incoming: ReadonlyMap<string, ListedHook> = new Map();
let outgoing: ReadonlyMap<string, ListedHook> = new Map();

export async function readHookNames(): Promise<void> {
  [incoming, outgoing] = await Promise.all([
    readHooks('/api/incoming-webhooks'), readHooks('/api/outgoing-webhooks'),
  ]);
}

async function readHooks(path: string): Promise<ReadonlyMap<string, ListedHook>> {
  const hooks = await get<readonly ListedHook[]>(path);
  return new Map(hooks.map((hook) => [hook.identifier, hook]));
}

export function labelOfHook({ name, pathSegment, targetUrl = '' }: LabelledHook): HookLabel {
  const place = pathSegment ?? hostAndPath(targetUrl);
  return { title: name ?? place, place };
}

/** Of one that is gone, the end of its identifier. */
export function findHookLabel(identifier: string | null): HookLabel {
  if (identifier === null) return { title: '–', place: '–' };
  const hook = incoming.get(identifier) ?? outgoing.get(identifier);
  if (hook !== undefined) return labelOfHook(hook);
  const end = `…${identifier.slice(-8)}`;
  return { title: end, place: end };
}

/** As text: `crm (api.example.com/hooks)`. */
function hookName(identifier: string): string {
  const { title, place } = findHookLabel(identifier);
  return title === place ? title : `${title} (${place})`;
}

/** Whether that is what somebody calls the webhook: its identifier, name or path segment. */
export function isHookCalled(identifier: string | null, wanted: string): boolean {
  const hook = incoming.get(identifier ?? '') ?? outgoing.get(identifier ?? '');
  return identifier === wanted || (hook !== undefined && isCalled(hook, wanted));
}

function isCalled({ identifier, name, pathSegment }: ListedHook, wanted: string): boolean {
  return [identifier, name, pathSegment].includes(wanted);
}

/** The sender of an incoming webhook; undefined where it is an outgoing one. */
export function presetOf(identifier: string): string | undefined {
  const hook = incoming.get(identifier);
  return hook === undefined ? undefined : hook.verification?.preset ?? '';
}

/** Path segments, which stand in addresses of the page. */
export function incomingPaths(): readonly string[] {
  return [...incoming.values()].map(({ pathSegment = '' }) => pathSegment).sort();
}

/** How the incoming webhook is shown that somebody calls so, in an address of the page. */
export function incomingName(called: string): string {
  return nameAmong(incoming, called);
}

/** The same of an outgoing one. */
export function outgoingName(called: string): string {
  return nameAmong(outgoing, called);
}

function nameAmong(hooks: ReadonlyMap<string, ListedHook>, called: string): string {
  const hook = [...hooks.values()].find((one) => isCalled(one, called));
  return hook === undefined ? called : hookName(hook.identifier);
}

export function outgoingIds(): readonly string[] {
  return [...outgoing.keys()];
}

function hostAndPath(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return url;
  }
}
