/** What the parts of the relay get in tests. A test names what it wants otherwise. */
import { systemClock } from '../../src/base/clock.ts';
import { createLogger, silentLogger } from '../../src/base/log.ts';
import { createTurns } from '../../src/base/turns.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { IDEMPOTENCY_KEYS, IdempotencyKeys } from '../../src/resources/idempotency-keys.ts';
import type { CollectionSpec } from '../../src/store/store-port.ts';
import { ALL_OWNED } from '../../src/webhooks/work/ownership.ts';
import type { RelayContext } from '../../src/webhooks/relay-context.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { createMemoryStore } from '../support/memory-store.ts';

type Changes<Type> = { readonly [Name in keyof Type]?: Type[Name] | undefined };

export type ContextChanges = Changes<RelayContext> & {
  /** Those of a store in memory, which is made where no store is given. */
  readonly collections?: readonly CollectionSpec[];
  /** Gets each line of the log as JSON, of every level. */
  readonly writeLog?: ((line: string) => void) | undefined;
};

export function createContext({
  clock = systemClock, collections = [], store = createMemoryStore(collections), writeLog,
  log = writeLog === undefined ? silentLogger
    : createLogger({ level: 'debug', format: 'json', write: writeLog, now: () => clock.now() }),
  makeId = createIdSource(clock), random = () => 0, ownership = ALL_OWNED,
  turns = createTurns(clock),
}: ContextChanges = {}): RelayContext {
  return { store, clock, log, makeId, random, ownership, turns };
}

const INCOMING = {
  defaultAllowedMethods: ['POST'], allowUnsignedWhenSecretMissing: true, actionTimeoutMs: 60_000,
  bodyBytesMax: 1 << 20, rateLimit: 0, maxConcurrent: 100,
  retrySchedule: [5, 300], maxInFlightPerHook: 8,
};
const OUTGOING = {
  retrySchedule: [5, 300], retentionMs: 7 * 86_400_000, retentionCount: 10_000,
  retentionBytes: 64 << 20,
  failedRetentionMs: 30 * 86_400_000, maxPending: 100_000, maxPendingBytes: 256 << 20,
  maxInFlight: 64, maxInFlightPerHook: 8, maxInFlightPerHost: 64,
};
export const INBOX = {
  retentionMs: 7 * 86_400_000, failedRetentionMs: 30 * 86_400_000, maxCount: 100_000,
  maxBytes: 256 << 20,
};
const EVENTS = { keep: 'heard', retentionMs: 7 * 86_400_000, bytesMax: 256 << 20 } as const;

/** The settings of the relay, of which a test may change members alone. */
type SettingChanges = {
  readonly [Group in 'incoming' | 'inbox' | 'events' | 'outgoing']?:
    Partial<WebhooksOptions[Group]> | undefined;
};

export type OptionChanges = SettingChanges & {
  /** Classes of custom actions. */
  readonly actions?: readonly unknown[] | undefined;
} & Partial<Omit<WebhooksOptions, keyof SettingChanges | 'actions'>>;

/** Unless `http` is given, every request that is sent fails. */
export function createOptions({
  incoming, inbox, events, outgoing, actions = [], ...others
}: OptionChanges = {}): WebhooksOptions {
  return {
    http: { request: () => Promise.reject(new Error('nothing is sent here')) },
    baseUri: () => '', onOutcome() {}, isDeniedTarget: () => false,
    keys: new IdempotencyKeys(createContext({ collections: [IDEMPOTENCY_KEYS] })),
    ...others,
    actions: actions.map((actionClass) => ({ actionClass, origin: 'a test' })),
    incoming: { ...INCOMING, ...incoming }, inbox: { ...INBOX, ...inbox },
    events: { ...EVENTS, ...events }, outgoing: { ...OUTGOING, ...outgoing },
  };
}

/** The class of a custom action that does as `execute`. */
export function createActionClass(
  identifier: string, execute: (...input: never[]) => unknown,
): unknown {
  return class {
    static identifier(): string { return identifier; }
    static label(): string { return identifier; }
    execute(...input: never[]): unknown { return execute(...input); }
  };
}
