/** What the relay is made of and held to. Only app.ts gives it. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Turns } from '../base/turns.ts';
import type { IdempotencyKeys } from '../resources/idempotency-keys.ts';
import type { Store } from '../store/store-port.ts';
import type { ActionSource } from './actions/action-registry.ts';
import type { HttpSender } from './http/http-sender.ts';
import type { StoredRequest } from './inbox/stored-request.ts';
import type { InboxLimits } from './inbox/inbox-retention.ts';
import type { OnOutcome } from './outcome-listeners.ts';
import type { Ownership } from './durable-queue/ownership.ts';

export type WebhooksOptions = {
  readonly store: Store;
  /** Not given: an `Idempotency-Key` has no effect. */
  readonly keys?: IdempotencyKeys;
  /** Not given: all work is done here. */
  readonly ownership?: Ownership;
  readonly http: HttpSender;
  /** Not given: a webhook may be saved with any address. */
  readonly isDeniedTarget?: (url: string) => boolean;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Shared with all that takes long in this process. Not given: of its own. */
  readonly turns?: Turns;
  readonly makeId: () => string;
  /** In [0, 1); for jitter. */
  readonly random: () => number;
  /** Custom actions: `loadActionModules` gives those of files. */
  readonly actions: readonly ActionSource[];
  /** Absolute address of the service; asked for when an example is shown. */
  readonly baseUri: () => string;
  readonly incoming: {
    readonly defaultAllowedMethods: readonly string[];
    readonly allowUnsignedWhenSecretMissing: boolean;
    readonly actionTimeoutMs: number;
    /** Requests a second for one hook; 0 is no limit. */
    readonly rateLimit: number;
    readonly maxConcurrent: number;
    /** What the payloads of all requests under way may take once they are parsed. */
    readonly payloadBytesMax: number;
    /** Seconds between attempts of a kept request. */
    readonly retrySchedule: readonly number[];
    /** Runs of kept requests at once for one hook. */
    readonly maxInFlightPerHook: number;
  };
  readonly inbox: InboxLimits;
  /** Told of each request that was rejected: no record says so. */
  readonly onRejected?: (request: StoredRequest) => void;
  readonly onOutcome: OnOutcome;
  readonly outgoing: {
    /** Seconds between attempts. */
    readonly retrySchedule: readonly number[];
    readonly retentionMs: number;
    readonly retentionCount: number;
    readonly retentionBytes: number;
    readonly failedRetentionMs: number;
    readonly maxPending: number;
    readonly maxPendingBytes: number;
    readonly maxInFlight: number;
    readonly maxInFlightPerHook: number;
  };
};
