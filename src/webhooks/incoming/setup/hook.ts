/** One incoming webhook by any of its names, ready and as it is stored. */
import { notFoundError } from '../../../resources/not-found.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { decodeIncoming, type IncomingWebhook } from '../webhook.ts';

/** Throws `not_found`. */
export function getHook(hooks: HookIndex, name: string): ReadyHook {
  const hook = hooks.findNamed(name);
  if (hook === undefined) throw notFoundError('incoming webhook', name);
  return hook;
}

/** With its secrets. Throws `not_found`. */
export function getStored(collection: Collection, { identifier }: ReadyHook): IncomingWebhook {
  const bytes = collection.findBytes(identifier);
  if (bytes === undefined) throw notFoundError('incoming webhook', identifier);
  return decodeIncoming(bytes);
}
