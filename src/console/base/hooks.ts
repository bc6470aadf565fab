/** The names of webhooks, for whoever shows an identifier of one. Read once a screen. */
import { get } from './api.ts';

type Named = {
  readonly identifier: string; readonly pathSegment?: string; readonly targetUrl?: string;
  readonly verification?: { readonly preset: string };
};

let incoming: ReadonlyMap<string, string> = new Map();
let presets: ReadonlyMap<string, string> = new Map();
let outgoing: ReadonlyMap<string, string> = new Map();

export async function readHookNames(): Promise<void> {
  const [ins, outs] = await Promise.all([
    get<readonly Named[]>('/api/incoming-webhooks'),
    get<readonly Named[]>('/api/outgoing-webhooks'),
  ]);
  incoming = new Map(ins.map(({ identifier, pathSegment = '' }) => [identifier, pathSegment]));
  presets = new Map(ins.map(({ identifier, verification }) =>
    [identifier, verification?.preset ?? '']));
  outgoing = new Map(outs.map(({ identifier, targetUrl = '' }) => [identifier, hostOf(targetUrl)]));
}

/** The path segment of an incoming webhook, the host of an outgoing one. */
export function hookName(identifier: string | null): string {
  if (identifier === null) return '–';
  return incoming.get(identifier) ?? outgoing.get(identifier) ?? `…${identifier.slice(-8)}`;
}

/** The sender of an incoming webhook; undefined where it is an outgoing one. */
export function presetOf(identifier: string): string | undefined {
  return presets.get(identifier);
}

export function incomingNames(): readonly string[] {
  return [...incoming.values()].sort();
}

/** Identifier and name of each. */
export function outgoingHooks(): readonly (readonly [string, string])[] {
  return [...outgoing];
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
