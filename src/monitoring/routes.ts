/** What people look at to see whether all is well: statistics, the log, the state, the settings. */
import { LOG_LEVELS } from '../base/log.ts';
import type { Schema } from '../base/schema.ts';
import { arrayOf, objectOf, shown, text } from '../resources/route-parts.ts';
import { problemResponses } from '../server/problem.ts';
import { parseChoiceParameter, parseIntegerParameter, parseQuery } from '../server/query.ts';
import type { ParameterSpec, HttpRoute } from '../server/http-route.ts';
import type { LogLines } from './log-lines.ts';
import type { Statistics, StatisticsWindow } from './statistics.ts';

/** The state of the service at this moment. */
export type Status = {
  readonly isReady: boolean;
  /** Why it is not ready; null when it is. */
  readonly reason: string | null;
  readonly version: string;
  readonly node: string;
  readonly startedAt: string;
  readonly store: {
    readonly records: number; readonly bytes: number; readonly journalBytes: number;
    readonly generation: number; readonly sequence: number; readonly isCompacting: boolean;
    /** Since this process began; null: not yet. */
    readonly compactedAt: string | null;
    readonly backedUpAt: string | null;
  };
  readonly deliveries: {
    readonly pending: number; readonly inFlight: number; readonly oldestPendingMs: number;
  };
  readonly requests: { readonly pending: number; readonly failed: number };
  /** How many are in each state, of both kinds. */
  readonly webhooks: {
    readonly healthy: number; readonly failing: number; readonly rejecting: number;
    readonly off: number;
  };
};

type HookDescription = {
  /** null: it has no name, or is gone. */
  readonly hookName: string | null;
  /** Host and path that it sends to; null of an incoming webhook, and of one that is gone. */
  readonly target: string | null;
};

type MonitoringParts = {
  readonly statistics: Statistics;
  /** What people know a webhook by. */
  readonly describeHook: (hook: string) => HookDescription;
  readonly lines: LogLines;
  readonly status: () => Status;
  /** Each as a person may see it. */
  readonly settings: () => readonly object[];
};

const WINDOWS: readonly StatisticsWindow[] = ['1h', '24h'];
const ID_LENGTH_MAX = 200;

export function monitoringRoutes(parts: MonitoringParts): readonly HttpRoute[] {
  return [statusRoute(parts), statisticsRoute(parts), logRoute(parts), settingsRoute(parts)];
}

const integer: Schema = { kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const flag: Schema = { kind: 'boolean' };
const time: Schema = { kind: 'string', format: 'date-time' };
const anything: Schema = { kind: 'json', isObject: false, bytesMax: Infinity, depthMax: 64 };

function statusRoute({ status }: MonitoringParts): HttpRoute {
  return {
    method: 'GET', path: '/api/status', operationId: 'getStatus', access: 'read',
    summary: 'Whether the service is ready, what it holds and what waits',
    responses: [shown('The state of this moment', objectOf('Status', {
      isReady: flag, reason: text(), version: text(), node: text(), startedAt: time,
      store: objectOf('StoreStatus', {
        records: integer, bytes: integer, journalBytes: integer, generation: integer,
        sequence: integer, isCompacting: flag, compactedAt: time, backedUpAt: time,
      }, { nullable: ['compactedAt', 'backedUpAt'] }),
      deliveries: objectOf('DeliveryQueueStatus', {
        pending: integer, inFlight: integer, oldestPendingMs: integer,
      }),
      requests: objectOf('InboxStatus', { pending: integer, failed: integer }),
      webhooks: objectOf('WebhookCounts', {
        healthy: integer, failing: integer, rejecting: integer, off: integer,
      }),
    }, { nullable: ['reason'] }))],
    handle: (exchange) => exchange.sendJson(200, status()),
  };
}

const COUNTS = arrayOf(integer);
const P95 = { p95Ms: arrayOf(anything) };
const REQUESTS = objectOf('RequestSeries',
  { accepted: COUNTS, rejected: COUNTS, failed: COUNTS, ...P95 });
const RUNS = objectOf('RunSeries', { succeeded: COUNTS, failed: COUNTS });
const DELIVERIES = objectOf('DeliverySeries', { delivered: COUNTS, failed: COUNTS, ...P95 });

function statisticsRoute({ statistics, describeHook }: MonitoringParts): HttpRoute {
  return {
    method: 'GET', path: '/api/statistics', operationId: 'getStatistics', access: 'read',
    summary: 'Requests, runs of actions and delivery attempts of the last hour by minute, or of '
      + 'the last day by quarter of an hour, in all and by webhook',
    parameters: [{
      name: 'window', in: 'query', description: 'How far back; 1h when absent',
      schema: { kind: 'string', values: WINDOWS },
    }],
    responses: [
      shown('Counters since the process began', objectOf('Statistics', {
        window: { kind: 'string', values: WINDOWS }, since: time, times: arrayOf(time),
        requests: REQUESTS, runs: RUNS, deliveries: DELIVERIES,
        hooks: arrayOf(objectOf('HookStatistics', {
          hook: text(), hookName: text(), target: text(), requests: REQUESTS, runs: RUNS,
          deliveries: DELIVERIES,
        }, { nullable: ['hookName', 'target'] })),
      })),
      ...problemResponses(400),
    ],
    handle(exchange) {
      const query = parseQuery(exchange.search, ['window']);
      const report = statistics.report(parseChoiceParameter(query, 'window', WINDOWS) ?? '1h');
      const hooks = report.hooks.map(({ hook, ...series }) =>
        ({ hook, ...describeHook(hook), ...series }));
      exchange.sendJson(200, { ...report, hooks });
    },
  };
}

const LOG_PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'level', in: 'query', description: 'Lines of this level and graver ones',
    schema: { kind: 'string', values: LOG_LEVELS },
  },
  {
    name: 'requestId', in: 'query', description: 'Lines of this request',
    schema: { kind: 'string', maxLength: ID_LENGTH_MAX },
  },
  { name: 'after', in: 'query', description: 'Lines after that number', schema: integer },
];

function logRoute({ lines }: MonitoringParts): HttpRoute {
  return {
    method: 'GET', path: '/api/log', operationId: 'listLogLines', access: 'admin',
    summary: 'The last 1,000 lines of the log, oldest first, secrets replaced',
    parameters: LOG_PARAMETERS,
    responses: [
      shown('The lines', arrayOf(objectOf('LogLine', {
        number: integer, time, level: { kind: 'string', values: LOG_LEVELS }, message: text(),
        fields: { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: 64 },
      }))),
      ...problemResponses(400),
    ],
    handle(exchange) {
      const query = parseQuery(exchange.search, LOG_PARAMETERS.map(({ name }) => name));
      exchange.sendJson(200, lines.read({
        level: parseChoiceParameter(query, 'level', LOG_LEVELS),
        requestId: query.get('requestId') ?? null,
        after: parseIntegerParameter(query, 'after', 0, Number.MAX_SAFE_INTEGER) ?? 0,
      }));
    },
  };
}

function settingsRoute({ settings }: MonitoringParts): HttpRoute {
  return {
    method: 'GET', path: '/api/settings', operationId: 'listSettings', access: 'admin',
    summary: 'Every setting, its value and where it came from; secrets are shown as ***',
    responses: [shown('The settings', arrayOf(objectOf('Setting', {
      name: text(), value: anything, origin: text(), default: anything, unit: text(),
      variable: text(), meaning: text(),
    }, { nullable: ['value', 'default'] })))],
    handle: (exchange) => exchange.sendJson(200, settings()),
  };
}
