/** Routes for operators: the state of the service, statistics, the log and the settings. */
import { LOG_LEVELS } from '../base/log.ts';
import { COUNT, HISTORY_WINDOWS, jsonResponse } from '../resources/route-specs.ts';
import { problemResponses } from '../server/problem.ts';
import { readQuery } from '../server/query.ts';
import type { Exchange, HttpRoute, ParameterSpec } from '../server/http-route.ts';
import type { LogLines } from './log-lines.ts';
import {
  historySchema, logLinesSchema, settingsSchema, statisticsSchema, statusSchema,
  WINDOWS, type ServiceStatus, type StatisticsHistory,
} from './monitoring-schema.ts';
import type { Statistics } from './statistics.ts';

type WebhookDescription = {
  /** null for a webhook without a name, and for one that was deleted. */
  readonly hookName: string | null;
  /** The host and path of an outgoing webhook; null for other webhooks and deleted ones. */
  readonly target: string | null;
};

type MonitoringRouteDeps = {
  readonly statistics: Statistics;
  readonly readHistory: (window: StatisticsHistory['window']) => StatisticsHistory;
  readonly describeWebhook: (webhookId: string) => WebhookDescription;
  /** Finds which webhooks the caller sees; null: all. */
  readonly findSeenWebhooks: (exchange: Exchange) => ((webhookId: string) => boolean) | null;
  readonly logLines: LogLines;
  readonly getStatus: () => ServiceStatus;
  /** Settings as people may see them, with secrets replaced. */
  readonly listSettings: () => readonly object[];
};

// Request ids are shorter (dispatcher.ts). Only the schema says it: a longer id matches no line.
const ID_LENGTH_MAX = 200;

export function monitoringRoutes(deps: MonitoringRouteDeps): readonly HttpRoute[] {
  return [
    statusRoute(deps), statisticsRoute(deps), historyRoute(deps), logRoute(deps),
    settingsRoute(deps),
  ];
}

function statusRoute({ getStatus }: MonitoringRouteDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/status', operationId: 'getStatus', access: 'read',
    summary: 'Whether the service is ready, what it holds and what waits', tool: {},
    responses: [jsonResponse('The state of this moment', statusSchema)],
    handle: (exchange) => exchange.sendJson(200, getStatus()),
  };
}

const STATISTICS_PARAMETERS = [{
  name: 'window', in: 'query', description: 'How far back; 1h when absent',
  schema: { kind: 'string', values: WINDOWS },
}] as const satisfies readonly ParameterSpec[];

function statisticsRoute(
  { statistics, describeWebhook, findSeenWebhooks }: MonitoringRouteDeps,
): HttpRoute {
  return {
    method: 'GET', path: '/api/statistics', operationId: 'getStatistics', access: 'read',
    bound: { scope: 'read' },
    summary: 'Requests, runs of actions and delivery attempts of the last hour by minute, or of '
      + 'the last day by quarter of an hour, in all and by webhook',
    parameters: STATISTICS_PARAMETERS,
    responses: [
      jsonResponse('Counters of the window; those from before `since`, the start of the process, '
        + 'are lost', statisticsSchema),
      ...problemResponses(400),
    ],
    handle(exchange) {
      const { window } = readQuery(exchange.search, STATISTICS_PARAMETERS);
      const report = statistics.report(window ?? '1h', findSeenWebhooks(exchange));
      const hooks = report.hooks.map(({ hook: webhookId, ...series }) =>
        ({ hook: webhookId, ...describeWebhook(webhookId), ...series }));
      exchange.sendJson(200, { ...report, hooks });
    },
  };
}

const HISTORY_PARAMETERS = [{
  name: 'window', in: 'query', description: 'How far back; 1h when absent',
  schema: { kind: 'string', values: HISTORY_WINDOWS },
}] as const satisfies readonly ParameterSpec[];

function historyRoute({ readHistory }: MonitoringRouteDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/statistics/history', operationId: 'getStatisticsHistory',
    access: 'read',
    summary: 'Requests, runs of actions and delivery attempts of the last hour, day or week, by '
      + 'five minutes, also before a restart',
    parameters: HISTORY_PARAMETERS,
    responses: [jsonResponse('The series', historySchema), ...problemResponses(400)],
    handle(exchange) {
      const { window } = readQuery(exchange.search, HISTORY_PARAMETERS);
      exchange.sendJson(200, readHistory(window ?? '1h'));
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

function logRoute({ logLines }: MonitoringRouteDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/log', operationId: 'listLogLines', access: 'admin',
    summary: 'The last 1,000 lines of the log, oldest first, secrets replaced',
    parameters: LOG_PARAMETERS,
    responses: [
      jsonResponse('The lines', logLinesSchema),
      ...problemResponses(400),
    ],
    handle(exchange) {
      const { level, requestId, after } = readQuery(exchange.search, LOG_PARAMETERS);
      exchange.sendJson(200, logLines.read({ level, requestId, after: after ?? 0 }));
    },
  };
}

function settingsRoute({ listSettings }: MonitoringRouteDeps): HttpRoute {
  return {
    method: 'GET', path: '/api/settings', operationId: 'listSettings', access: 'admin',
    summary: 'Every setting, its value and where it came from; secrets are shown as ***',
    responses: [jsonResponse('The settings', settingsSchema)],
    handle: (exchange) => exchange.sendJson(200, listSettings()),
  };
}
