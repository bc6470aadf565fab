/** Incoming webhooks as they are kept: only with action configurations that there are. */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Store } from '../../store/port.ts';
import { configurationUse } from '../actions/repository.ts';
import { referencesOf } from '../actions/references.ts';
import { incomingResource, showIncoming } from './resource.ts';
import { decodeIncoming } from './webhook.ts';

export function createIncoming(parts: {
  readonly store: Store; readonly now: () => number; readonly makeId: () => string;
}): Repository {
  return createRepository({
    ...parts,
    resource: { ...incomingResource, present: (record) => showIncoming(record, parts.now()) },
    onChange: configurationUse('incoming', parts.store, (bytes) =>
      referencesOf(decodeIncoming(bytes))),
  });
}
