/** The state, the statistics, the log and the settings, as operators see them. */
import { LOG_LEVELS } from '../base/log.ts';
import type { JsonNumber } from '../base/exact-number.ts';
import type { JsonSchema } from '../base/schema.ts';
import type { AnswerOf, SchemaOf } from '../base/schema-types.ts';
import {
  ANY_JSON, COUNT, COUNTS, FLAG, HISTORY_WINDOWS, NULLABLE_DURATIONS, TEXT, TIME, arraySchema,
  objectSchema,
} from '../resources/route-specs.ts';

const seconds = { kind: 'number', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const days = {
  kind: 'integer', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER,
} as const;
const SCALAR: SchemaOf<string | JsonNumber | boolean, JsonSchema> = ANY_JSON;

const FULL_REASON =
  [TEXT, 'Why it refused what came last, and would again; null: it takes more'] as const;

export const statusSchema = objectSchema('Status', {
  isReady: FLAG, reason: [TEXT, 'Why it is not ready; null: it is'],
  isPaused: [FLAG, 'Whether `server.paused` keeps deliveries and kept requests waiting'],
  version: TEXT,
  commit: [TEXT, 'The commit of the build; `-dirty`: files differed from it; null: not known'],
  node: TEXT, startedAt: TIME,
  server: objectSchema('ServerStatus', {
    urls: [arraySchema(TEXT), 'Where it listens: `http://127.0.0.1:8000`, or `unix:` and a path'],
    baseUri: [TEXT, 'What its absolute URLs begin with'],
    certificate: [
      objectSchema('CertificateStatus', {
        expiresAt: TIME, daysLeft: [days, 'Whole days; below 0 once it has expired'],
      }),
      'The TLS certificate in use; null: there is none',
    ],
    openFilesMax: [COUNT, 'How many files the process may have open; null: nobody knows'],
  }, { nullable: ['certificate', 'openFilesMax'] }),
  store: objectSchema('StoreStatus', {
    engine: [TEXT, 'What keeps the log; null: files do'],
    durability: [TEXT, 'That of the engine, in words'],
    records: COUNT, bytes: COUNT, journalBytes: COUNT, generation: COUNT, sequence: COUNT,
    isCompacting: FLAG, compactedAt: [TIME, 'null: not since the process began'], backedUpAt: TIME,
  }, { nullable: ['engine', 'durability', 'compactedAt', 'backedUpAt'] }),
  catalog: objectSchema('CatalogStatus', {
    indexes: [
      arraySchema(objectSchema('CatalogIndex', {
        index: TEXT, bytes: COUNT, state: { kind: 'string', values: ['making', 'ready'] },
      })),
      'Those that queries have needed',
    ],
    importedRecords: [
      COUNT, 'Records that imports have dealt with since the process began, dry runs too',
    ],
  }),
  deliveries: objectSchema('DeliveryQueueStatus', {
    pending: COUNT, pendingMax: COUNT,
    bytes: [COUNT, 'Of those that wait or have failed'], bytesMax: COUNT,
    fullReason: FULL_REASON,
    fullWebhooks: [
      arraySchema(objectSchema('FullWebhook', { hook: TEXT, webhook: TEXT, pending: COUNT })),
      'Those for which most waits, and whose next event is refused so that others have room',
    ],
    inFlight: COUNT, oldestPendingMs: COUNT,
  }, { nullable: ['fullReason'] }),
  requests: objectSchema('InboxStatus', {
    pending: COUNT, failed: COUNT, fullReason: FULL_REASON,
  }, { nullable: ['fullReason'] }),
  webhooks: [
    objectSchema('WebhookCounts', {
      healthy: COUNT, failing: COUNT, rejecting: COUNT, off: COUNT,
      lastTryFailed: [COUNT, 'Healthy ones whose last try failed'],
    }),
    'How many of both kinds are in each state of health',
  ],
  heldBack: [
    arraySchema(objectSchema('HeldBackKey', { hook: TEXT, key: SCALAR, waiting: COUNT })),
    'Keys of webhooks with order by key that hold back many deliveries, the longest first',
  ],
  unhealthy: [
    arraySchema(objectSchema('UnhealthyWebhook', {
      direction: { kind: 'string', values: ['incoming', 'outgoing'] }, hook: TEXT,
      webhook: [TEXT, 'What people call it: its name, its path segment, or its identifier'],
      state: { kind: 'string', values: ['failing', 'rejecting', 'off'] }, since: TIME,
      reason: [TEXT, 'null: nobody knows one'],
    }, { nullable: ['reason'] })),
    'Webhooks that fail, reject most requests, or were switched off by a failure, those for '
      + 'longest first',
  ],
  waiting: [
    arraySchema(objectSchema('WaitingWebhook', {
      hook: TEXT, target: TEXT, since: TIME,
      behind: [arraySchema(TEXT), 'The webhooks that have the places there, the first of them'],
    })),
    'Webhooks that have waited long for a place at their host',
  ],
  backups: [
    objectSchema('BackupsStatus', {
      to: TEXT, everyHours: seconds,
      newestAt: [
        TIME, 'When the newest verified one was made; null: there is none, or another node makes '
          + 'them',
      ],
      failure: [
        objectSchema('BackupFailure', { at: TIME, reason: TEXT }),
        'Why the last one failed, and when; null once one was made',
      ],
    }, { nullable: ['newestAt', 'failure'] }),
    'Those that the server makes by itself; null: it makes none',
  ],
  followers: [
    arraySchema(objectSchema('Follower', {
      copy: { kind: 'string', format: 'uuid' }, name: TEXT, address: TEXT, isConnected: FLAG,
      sequence: COUNT, behindTransactions: COUNT, behindSeconds: seconds, seenAt: TIME,
    })),
    'Processes elsewhere that keep a copy of the data, since this process began',
  ],
}, { nullable: ['reason', 'commit', 'backups'] });

/** The state of the service at this moment. */
export type ServiceStatus = AnswerOf<typeof statusSchema>;

export const WINDOWS = ['1h', '24h'] as const;

const REQUESTS = objectSchema('RequestSeries', {
  accepted: COUNTS, rejected: COUNTS, failed: COUNTS, p95Ms: NULLABLE_DURATIONS,
});
const RUNS = objectSchema('RunSeries', { succeeded: COUNTS, failed: COUNTS, coalesced: COUNTS });
const DELIVERIES = objectSchema('DeliverySeries', {
  delivered: COUNTS, failed: COUNTS, p95Ms: NULLABLE_DURATIONS,
});

export const statisticsSchema = objectSchema('Statistics', {
  window: { kind: 'string', values: WINDOWS }, since: [TIME, 'When counting began'],
  times: [arraySchema(TIME), 'The beginning of each interval'],
  requests: REQUESTS, runs: RUNS, deliveries: DELIVERIES,
  hooks: arraySchema(objectSchema('HookStatistics', {
    hook: TEXT, hookName: TEXT, target: TEXT, requests: REQUESTS, runs: RUNS,
    deliveries: DELIVERIES,
  }, { nullable: ['hookName', 'target'] })),
});

export type StatisticsReport = AnswerOf<typeof statisticsSchema>;

const MEAN_DURATIONS = [NULLABLE_DURATIONS, 'In the mean; null where none ended'] as const;

export const historySchema = objectSchema('StatisticsHistory', {
  window: { kind: 'string', values: HISTORY_WINDOWS }, intervalSeconds: COUNT,
  times: [arraySchema(TIME), 'The beginning of each interval; the last one is not over'],
  requests: objectSchema('RequestHistory', {
    accepted: COUNTS, rejected: COUNTS, failed: COUNTS, durationMs: MEAN_DURATIONS,
  }),
  runs: objectSchema('RunHistory', { succeeded: COUNTS, failed: COUNTS }),
  deliveries: objectSchema('DeliveryHistory', {
    delivered: COUNTS, failed: COUNTS, durationMs: MEAN_DURATIONS,
  }),
});

/** The counts of all requests, runs and attempts of a window. */
export type StatisticsHistory = AnswerOf<typeof historySchema>;

export const logLinesSchema = arraySchema(objectSchema('LogLine', {
  number: COUNT, time: TIME, level: { kind: 'string', values: LOG_LEVELS }, message: TEXT,
  fields: { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: 64 },
}));

export const settingsSchema = arraySchema(objectSchema('Setting', {
  name: TEXT, value: ANY_JSON, origin: TEXT, default: ANY_JSON, unit: TEXT,
  variable: TEXT, meaning: TEXT,
}, { nullable: ['value', 'default'] }));
