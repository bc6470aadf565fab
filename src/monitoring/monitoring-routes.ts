/** Routes for operators: the state of the service, statistics, the log and the settings. */
import { LOG_LEVELS } from '../base/log.ts';
import type { JsonNumber } from '../base/exact-number.ts';
import type { Schema } from '../base/schema.ts';
import {
  arraySchema, objectSchema, jsonResponse, FLAG, TEXT, COUNT, TIME,
} from '../resources/route-specs.ts';
import { problemResponses } from '../server/problem.ts';
import { readQuery } from '../server/query.ts';
import type { ParameterSpec, HttpRoute } from '../server/http-route.ts';
import type { LogLines } from './log-lines.ts';
import type { Statistics, StatisticsWindow } from './statistics.ts';

/** The state of the service at this moment. */
export type ServiceStatus = {
  readonly isReady: boolean;
  /** Why the service is not ready; null when it is. */
  readonly reason: string | null;
  readonly version: string;
  readonly node: string;
  readonly startedAt: string;
  readonly server: {
    /** Where it listens: `http://127.0.0.1:8000`, or `unix:` and a path. */
    readonly urls: readonly string[];
    /** What absolute URLs of this service begin with. */
    readonly baseUri: string;
    /** The TLS certificate in use; null without one. */
    readonly certificate: {
      readonly expiresAt: string;
      /** Whole days; below 0 once it has expired. */
      readonly daysLeft: number;
    } | null;
    /** How many files the process may have open; null without a limit that is known. */
    readonly openFilesMax: number | null;
  };
  readonly store: {
    /** The engine that keeps the log, and the durability it has, in words; null: it is files. */
    readonly engine: string | null;
    readonly durability: string | null;
    readonly records: number; readonly bytes: number; readonly journalBytes: number;
    readonly generation: number; readonly sequence: number; readonly isCompacting: boolean;
    /** null: not since this process began. */
    readonly compactedAt: string | null;
    readonly backedUpAt: string | null;
  };
  /** The indexes that queries of the catalog have needed. */
  readonly catalog: {
    readonly indexes: readonly {
      readonly index: string; readonly bytes: number; readonly state: 'making' | 'ready';
    }[];
  };
  readonly deliveries: {
    readonly pending: number; readonly inFlight: number; readonly oldestPendingMs: number;
  };
  readonly requests: { readonly pending: number; readonly failed: number };
  /** Webhooks of both kinds in each state of health. */
  readonly webhooks: {
    readonly healthy: number; readonly failing: number; readonly rejecting: number;
    readonly off: number;
  };
  /** The keys of webhooks with order by key that hold back many deliveries, the longest first. */
  readonly heldBack: readonly {
    /** The identifier of the webhook. */
    readonly hook: string; readonly key: string | JsonNumber | boolean; readonly waiting: number;
  }[];
  /**
   * The webhooks that somebody must look after: those that fail, that reject most requests, or that
   * a failure has switched off, those for longest first.
   */
  readonly unhealthy: readonly {
    readonly direction: 'incoming' | 'outgoing';
    readonly hook: string;
    /** What people call it: its name, its path segment, or its identifier. */
    readonly webhook: string;
    readonly state: 'failing' | 'rejecting' | 'off'; readonly since: string;
    /** null: no reason is known. */
    readonly reason: string | null;
  }[];
  /** The webhooks that have waited long for a place at their host. */
  readonly waiting: readonly {
    readonly hook: string; readonly target: string; readonly since: string;
    /** The webhooks that have the places there, the first of them. */
    readonly behind: readonly string[];
  }[];
  /** What the server makes by itself (`backup.to`); null: it makes none. */
  readonly backups: {
    readonly to: string; readonly everyHours: number;
    /** When the newest verified one was made; null while there is none, and on other nodes. */
    readonly newestAt: string | null;
    /** Why the last one failed, and when; null once one was made. */
    readonly failure: { readonly at: string; readonly reason: string } | null;
  } | null;
  /** The processes elsewhere that keep a copy of the data, since this process began. */
  readonly followers: readonly {
    readonly copy: string; readonly name: string; readonly address: string;
    readonly isConnected: boolean; readonly sequence: number; readonly behindTransactions: number;
    readonly behindSeconds: number; readonly seenAt: string;
  }[];
};

type WebhookDescription = {
  /** null for a webhook without a name, and for one that was deleted. */
  readonly hookName: string | null;
  /** The host and path of an outgoing webhook; null for other webhooks and deleted ones. */
  readonly target: string | null;
};

type MonitoringDeps = {
  readonly statistics: Statistics;
  readonly describeWebhook: (webhookId: string) => WebhookDescription;
  readonly logLines: LogLines;
  readonly getStatus: () => ServiceStatus;
  /** Settings as people may see them, with secrets replaced. */
  readonly listSettings: () => readonly object[];
};

const WINDOWS: readonly StatisticsWindow[] = ['1h', '24h'];
// Request ids are shorter (dispatcher.ts). Only the schema says it: a longer id matches no line.
const ID_LENGTH_MAX = 200;

export function monitoringRoutes(deps: MonitoringDeps): readonly HttpRoute[] {
  return [statusRoute(deps), statisticsRoute(deps), logRoute(deps), settingsRoute(deps)];
}

const seconds: Schema = { kind: 'number', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const days: Schema = {
  kind: 'integer', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER,
};
const anything: Schema = { kind: 'json', isObject: false, bytesMax: Infinity, depthMax: 64 };

function statusRoute({ getStatus }: MonitoringDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/status', operationId: 'getStatus', access: 'read',
    summary: 'Whether the service is ready, what it holds and what waits',
    responses: [jsonResponse('The state of this moment', objectSchema('Status', {
      isReady: FLAG, reason: TEXT, version: TEXT, node: TEXT, startedAt: TIME,
      server: objectSchema('ServerStatus', {
        urls: arraySchema(TEXT), baseUri: TEXT,
        certificate: objectSchema('CertificateStatus', { expiresAt: TIME, daysLeft: days }),
        openFilesMax: COUNT,
      }, { nullable: ['certificate', 'openFilesMax'] }),
      store: objectSchema('StoreStatus', {
        engine: TEXT, durability: TEXT, records: COUNT, bytes: COUNT, journalBytes: COUNT,
        generation: COUNT, sequence: COUNT, isCompacting: FLAG, compactedAt: TIME, backedUpAt: TIME,
      }, { nullable: ['engine', 'durability', 'compactedAt', 'backedUpAt'] }),
      catalog: objectSchema('CatalogStatus', {
        indexes: arraySchema(objectSchema('CatalogIndex', {
          index: TEXT, bytes: COUNT, state: { kind: 'string', values: ['making', 'ready'] },
        })),
      }),
      deliveries: objectSchema('DeliveryQueueStatus', {
        pending: COUNT, inFlight: COUNT, oldestPendingMs: COUNT,
      }),
      requests: objectSchema('InboxStatus', { pending: COUNT, failed: COUNT }),
      webhooks: objectSchema('WebhookCounts', {
        healthy: COUNT, failing: COUNT, rejecting: COUNT, off: COUNT,
      }),
      heldBack: arraySchema(objectSchema('HeldBackKey', {
        hook: TEXT, key: anything, waiting: COUNT,
      })),
      unhealthy: arraySchema(objectSchema('UnhealthyWebhook', {
        direction: { kind: 'string', values: ['incoming', 'outgoing'] }, hook: TEXT, webhook: TEXT,
        state: { kind: 'string', values: ['failing', 'rejecting', 'off'] }, since: TIME,
        reason: TEXT,
      }, { nullable: ['reason'] })),
      waiting: arraySchema(objectSchema('WaitingWebhook', {
        hook: TEXT, target: TEXT, since: TIME, behind: arraySchema(TEXT),
      })),
      backups: objectSchema('BackupsStatus', {
        to: TEXT, everyHours: seconds, newestAt: TIME,
        failure: objectSchema('BackupFailure', { at: TIME, reason: TEXT }),
      }, { nullable: ['newestAt', 'failure'] }),
      followers: arraySchema(objectSchema('Follower', {
        copy: { kind: 'string', format: 'uuid' }, name: TEXT, address: TEXT, isConnected: FLAG,
        sequence: COUNT, behindTransactions: COUNT, behindSeconds: seconds, seenAt: TIME,
      })),
    }, { nullable: ['reason', 'backups'] }))],
    handle: (exchange) => exchange.sendJson(200, getStatus()),
  };
}

const COUNTS = arraySchema(COUNT);
// Each element is a number, or null where nothing was counted. Our schemas cannot say that of the
// elements of an array.
const P95 = { p95Ms: arraySchema(anything) };
const REQUESTS = objectSchema('RequestSeries',
  { accepted: COUNTS, rejected: COUNTS, failed: COUNTS, ...P95 });
const RUNS = objectSchema('RunSeries', {
  succeeded: COUNTS, failed: COUNTS, coalesced: COUNTS,
});
const DELIVERIES = objectSchema('DeliverySeries', { delivered: COUNTS, failed: COUNTS, ...P95 });

const STATISTICS_PARAMETERS = [{
  name: 'window', in: 'query', description: 'How far back; 1h when absent',
  schema: { kind: 'string', values: WINDOWS },
}] as const satisfies readonly ParameterSpec[];

function statisticsRoute({ statistics, describeWebhook }: MonitoringDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/statistics', operationId: 'getStatistics', access: 'read',
    summary: 'Requests, runs of actions and delivery attempts of the last hour by minute, or of '
      + 'the last day by quarter of an hour, in all and by webhook',
    parameters: STATISTICS_PARAMETERS,
    responses: [
      jsonResponse('Counters of the window; those from before `since`, the start of the process, '
        + 'are lost', objectSchema('Statistics', {
        window: { kind: 'string', values: WINDOWS }, since: TIME, times: arraySchema(TIME),
        requests: REQUESTS, runs: RUNS, deliveries: DELIVERIES,
        hooks: arraySchema(objectSchema('HookStatistics', {
          hook: TEXT, hookName: TEXT, target: TEXT, requests: REQUESTS, runs: RUNS,
          deliveries: DELIVERIES,
        }, { nullable: ['hookName', 'target'] })),
      })),
      ...problemResponses(400),
    ],
    handle(exchange) {
      const { window } = readQuery(exchange.search, STATISTICS_PARAMETERS);
      const report = statistics.report(window ?? '1h');
      const hooks = report.hooks.map(({ hook: webhookId, ...series }) =>
        ({ hook: webhookId, ...describeWebhook(webhookId), ...series }));
      exchange.sendJson(200, { ...report, hooks });
    },
  };
}

const LOG_PARAMETERS = [
  {
    name: 'level', in: 'query', description: 'Lines of this level and graver ones',
    schema: { kind: 'string', values: LOG_LEVELS },
  },
  {
    name: 'requestId', in: 'query', description: 'Lines of this request',
    schema: { kind: 'string', maxLength: ID_LENGTH_MAX },
  },
  { name: 'after', in: 'query', description: 'Lines after that number', schema: COUNT },
] as const satisfies readonly ParameterSpec[];

function logRoute({ logLines }: MonitoringDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/log', operationId: 'listLogLines', access: 'admin',
    summary: 'The last 1,000 lines of the log, oldest first, secrets replaced',
    parameters: LOG_PARAMETERS,
    responses: [
      jsonResponse('The lines', arraySchema(objectSchema('LogLine', {
        number: COUNT, time: TIME, level: { kind: 'string', values: LOG_LEVELS }, message: TEXT,
        fields: { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: 64 },
      }))),
      ...problemResponses(400),
    ],
    handle(exchange) {
      const { level, requestId, after } = readQuery(exchange.search, LOG_PARAMETERS);
      exchange.sendJson(200, logLines.read({ level, requestId, after: after ?? 0 }));
    },
  };
}

function settingsRoute({ listSettings }: MonitoringDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/settings', operationId: 'listSettings', access: 'admin',
    summary: 'Every setting, its value and where it came from; secrets are shown as ***',
    responses: [jsonResponse('The settings', arraySchema(objectSchema('Setting', {
      name: TEXT, value: anything, origin: TEXT, default: anything, unit: TEXT,
      variable: TEXT, meaning: TEXT,
    }, { nullable: ['value', 'default'] })))],
    handle: (exchange) => exchange.sendJson(200, listSettings()),
  };
}
