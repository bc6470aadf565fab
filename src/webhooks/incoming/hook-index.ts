/** Incoming webhooks by path segment, with what a request needs ready: O(1), nothing parsed. */
import type { KeyObject } from 'node:crypto';
import { RateLimitedLog } from '../../base/rate-limited-log.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Collection } from '../../store/port.ts';
import { follow } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { IncomingWebhook } from './incoming-webhook.ts';
import { HookLoad, TokenBucket } from './limits.ts';
import { signatureKey } from '../senders/x-signature.ts';

export type ReadyHook = {
  readonly identifier: string;
  readonly pathSegment: string;
  readonly enabled: boolean;
  readonly methods: readonly string[];
  readonly key: KeyObject | null;
  readonly actionConfiguration: string;
  readonly load: HookLoad;
};

export interface HookIndex {
  findByPath(pathSegment: string): ReadyHook | undefined;
  find(identifier: string): ReadyHook | undefined;
  /** For calls of webhooks that are not there. */
  readonly strangers: RateLimitedLog;
  close(): void;
}

export function createHookIndex(options: {
  readonly collection: Collection;
  readonly defaultMethods: readonly string[];
  /** Requests a second for one hook; 0 is no limit. */
  readonly rateLimit: number;
  readonly clock: Clock;
  readonly log: Logger;
}): HookIndex {
  const byPath = new Map<string, ReadyHook>();
  const byIdentifier = new Map<string, ReadyHook>();
  const rejectionsOf = (hook: string | null): RateLimitedLog =>
    new RateLimitedLog(options.clock, (leftOut) =>
      options.log.warning('more calls of an incoming webhook were rejected', { hook, leftOut }));
  const strangers = rejectionsOf(null);
  const makeLoad = (hook: string): HookLoad => new HookLoad(options.rateLimit > 0
    ? new TokenBucket(options.rateLimit, options.clock.monotonicMs()) : null, rejectionsOf(hook));
  const unfollow = follow(options.collection, ({ id, after }) => {
    const previous = byIdentifier.get(id);
    // The segment may be another hook's by now: two records may swap theirs in one transaction.
    if (previous !== undefined && byPath.get(previous.pathSegment) === previous) {
      byPath.delete(previous.pathSegment);
    }
    if (after === null) {
      previous?.load.rejections.close();
      byIdentifier.delete(id);
      return;
    }
    const load = previous?.load ?? makeLoad(id);
    const ready = toReady(readIncoming(after), options.defaultMethods, load);
    byIdentifier.set(id, ready);
    byPath.set(ready.pathSegment, ready);
  });
  return {
    findByPath: (pathSegment) => byPath.get(pathSegment),
    find: (identifier) => byIdentifier.get(identifier),
    strangers,
    close() {
      unfollow();
      strangers.close();
      for (const { load } of byIdentifier.values()) load.rejections.close();
    },
  };
}

export function readIncoming(bytes: Buffer): IncomingWebhook {
  return decodeRecordAs<IncomingWebhook>(bytes, ({ identifier, pathSegment }) =>
    typeof identifier === 'string' && typeof pathSegment === 'string');
}

function toReady(
  hook: IncomingWebhook, defaultMethods: readonly string[], load: HookLoad,
): ReadyHook {
  const { allowedMethods = [] } = hook;
  return {
    identifier: hook.identifier,
    pathSegment: hook.pathSegment,
    enabled: hook.enabled,
    methods: allowedMethods.length > 0 ? allowedMethods : defaultMethods,
    key: hook.secret === undefined ? null : signatureKey(hook.secret),
    actionConfiguration: hook.actionConfiguration,
    load,
  };
}
