/** The settings of the relay, and what it is connected to. Only app.ts sets them. */
import type { MemoryBudget } from '../base/memory-budget.ts';
import type { IdempotencyKeys } from '../resources/idempotency-keys.ts';
import type { IsTokenInForce } from './bulk/run-job.ts';
import type { ActionSource, RegisteredAction } from './actions/action-registry.ts';
import type { HttpSender } from './members/http-sender.ts';
import type { StoredRequest } from './incoming/stored-request.ts';
import type { InboxLimits } from './inbox/inbox-retention.ts';
import type { OnOutcome } from './outcome-listeners.ts';
import type { TokenBinding } from './outgoing/token-holders.ts';

export type WebhooksOptions = {
  readonly keys: IdempotencyKeys;
  readonly http: HttpSender;
  readonly isDeniedTarget: (url: string) => boolean;
  /** Absent: the relay has one of its own. */
  readonly memoryBudget?: MemoryBudget;
  /** Custom actions; `loadActionModules` loads those of files. */
  readonly actions: readonly ActionSource[];
  /** Built-in actions that not every service has: `run-command`. Absent: none of them. */
  readonly optionalActions?: readonly RegisteredAction[];
  /** The absolute URL of the service, read when an example is shown. */
  readonly baseUri: () => string;
  /** The source of events in the format `cloudevents`, a URI. Absent: `urn:hookshelf`. */
  readonly cloudEventSource?: string;
  readonly incoming: {
    readonly defaultAllowedMethods: readonly string[];
    /** The limit of a body, and of one without its Content-Encoding. */
    readonly bodyBytesMax: number;
    readonly allowUnsignedWhenSecretMissing: boolean;
    readonly actionTimeoutMs: number;
    /** Requests a second for one webhook; 0: no limit. */
    readonly rateLimit: number;
    readonly maxConcurrent: number;
    /** Seconds between attempts of a stored request. */
    readonly retrySchedule: readonly number[];
    /** Runs of stored requests at once for one webhook. */
    readonly maxInFlightPerHook: number;
  };
  readonly inbox: InboxLimits;
  readonly events: {
    /** `heard`: events that fire a webhook; `all`: also those that fire none. */
    readonly keep: 'heard' | 'all';
    /** How long, and how many bytes of, events without deliveries are kept. */
    readonly retentionMs: number;
    readonly bytesMax: number;
  };
  /** Called with each rejected request, which has no record. */
  readonly onRejected?: (request: StoredRequest) => void;
  readonly onOutcome: OnOutcome;
  /** Absent: every token is. */
  readonly isTokenInForce?: IsTokenInForce;
  /** Lists the tokens in force that are bound to webhooks. Absent: there are none. */
  readonly listBoundTokens?: () => readonly TokenBinding[];
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
    /**
     * The number of sockets, so that no attempt waits for the socket of another within its time.
     */
    readonly maxInFlightPerHost: number;
  };
};
