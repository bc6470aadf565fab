/** The HTTP routes of jobs: those that add one, and those that list, show and cancel them. */
import { parseTimestamp } from '../../base/clock.ts';
import type { FieldError } from '../../base/errors.ts';
import { NAME_PATTERN_RULE, createNameTest } from '../../base/event-name.ts';
import type { JsonObject, MemberSchema, MemberSchemas } from '../../base/schema.ts';
import { timeSchema } from '../../base/time.ts';
import type { IdempotencyKeys } from '../../resources/idempotency-keys.ts';
import { Representation } from '../../resources/representation.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import {
  pathParameter, sendList, jsonResponse, listResponse,
} from '../../resources/route-specs.ts';
import {
  CONDITIONAL_RESPONSES, ETAG_HEADER, IF_NONE_MATCH, sendRepresentation,
} from '../../resources/send-representation.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import { OUTGOING_STATUSES, QUEUED_STATUSES } from '../deliveries/delivery.ts';
import { createDeliveryFields } from '../deliveries/delivery-fields.ts';
import { deliveryResource } from '../deliveries/delivery-resource.ts';
import { EVENT_FACT_SOURCES } from '../deliveries/delivery-search.ts';
import { SOURCES } from '../members/filters/facts.ts';
import { requestFields } from '../inbox/request-fields.ts';
import { requestResource } from '../inbox/request-resource.ts';
import { STORED_STATUSES } from '../incoming/stored-request.ts';
import { resolveHook, type WebhookDirectory } from '../members/directory.ts';
import { outgoingResource } from '../outgoing/outgoing-resource.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { describeBodyMembers, type RecordFields } from '../records/fields.ts';
import { findWhereProblems, whereMember } from '../records/search-query.ts';
import type { FindVisibility } from '../members/visibility.ts';
import { bulkRoute } from './bulk-route.ts';
import { JOB_SCHEMA, toPublicJob, type Job } from './job.ts';
import type { Jobs } from './jobs.ts';
import { bindResendFilter } from './job-kinds.ts';
import { jobResource } from './job-resource.ts';

type JobAdmission = {
  readonly keys: IdempotencyKeys;
  readonly webhooks: {
    readonly incoming: WebhookDirectory; readonly outgoing: OutgoingWebhookIndex;
  };
};

const { path: PATH, noun: NOUN } = jobResource;

export function jobRoutes(
  jobs: Jobs, findVisibility: FindVisibility, admission: JobAdmission,
): readonly HttpRoute[] {
  const id = pathParameter('id', 'Of the job');
  return [
    {
      method: 'GET', path: PATH, operationId: 'listJobs', access: 'read',
      bound: { scope: 'read' },
      summary: 'Jobs, newest first: those that run, and the last hundred that have ended',
      responses: [listResponse('Jobs', JOB_SCHEMA), ...problemResponses(400)],
      handle(exchange) {
        const visibility = findVisibility(exchange);
        const seen = visibility === null ? jobs.list()
          : jobs.list().filter((job) => visibility.seesJob(job));
        sendList(exchange, seen.map(toPublicJob));
      },
    },
    {
      method: 'GET', path: `${PATH}/{id}`, operationId: 'getJob', access: 'read',
      bound: { scope: 'read', subject: 'job' },
      summary: 'How far a job has got',
      parameters: [id, IF_NONE_MATCH],
      responses: [
        { ...jsonResponse('The job', JOB_SCHEMA), headers: ETAG_HEADER }, ...CONDITIONAL_RESPONSES,
      ],
      handle: (exchange) =>
        sendRepresentation(exchange, NOUN, represent(jobs.get(exchange.params[0] ?? ''))),
    },
    {
      method: 'DELETE', path: `${PATH}/{id}`, operationId: 'cancelJob', access: 'write',
      bound: { scope: 'resend', subject: 'job' },
      summary: 'Cancel a job; what it has done stays done, and one that has ended stays as it is',
      parameters: [id],
      responses: [jsonResponse('The job', JOB_SCHEMA), ...problemResponses(404, 503, 507)],
      handle: async (exchange) =>
        exchange.sendJson(200, toPublicJob(await jobs.cancel(exchange.params[0] ?? ''))),
    },
    replayRoute(jobs, admission), resendRoute(jobs, admission), cancelRoute(jobs, admission),
    backfillRoute(jobs, admission),
  ];
}

function represent(job: Job): Representation {
  const bytes = Buffer.from(JSON.stringify(toPublicJob(job)));
  return new Representation(job.id, bytes, parseTimestamp(job.updatedAt));
}

function replayRoute(jobs: Jobs, { keys, webhooks }: JobAdmission): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: 'request-replay', path: `${requestResource.path}/replay`,
    operationId: 'replayRequests', name: 'RequestsReplay',
    summary: 'Run many kept requests again, as a job that goes on after a restart',
    members: replayMembers,
    bodyRules: { check: (body) => findWhereProblems(body, SOURCES) },
    resolveFilter: (filter) => resolveHookMember(webhooks.incoming, filter),
  });
}

function resendRoute(jobs: Jobs, { keys, webhooks }: JobAdmission): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: 'delivery-resend', path: `${deliveryResource.path}/resend`,
    operationId: 'resendDeliveries', name: 'DeliveriesResend', bound: { scope: 'resend' },
    summary: 'Send many deliveries again, as a job that goes on after a restart',
    members: resendMembers,
    bodyRules: { check: (body) => findWhereProblems(body, EVENT_FACT_SOURCES) },
    resolveFilter: (filter) => resolveHookMember(webhooks.outgoing, filter),
    bindFilter: bindResendFilter,
  });
}

function cancelRoute(jobs: Jobs, { keys, webhooks }: JobAdmission): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: 'delivery-cancel', path: `${deliveryResource.path}/cancel`,
    operationId: 'cancelDeliveries', name: 'DeliveriesCancel',
    summary: 'Cancel many pending or failed deliveries, as a job that goes on after a restart',
    members: cancelMembers,
    bodyRules: { check: (body) => findWhereProblems(body, EVENT_FACT_SOURCES) },
    resolveFilter: (filter) => resolveHookMember(webhooks.outgoing, filter),
  });
}

/** The members of a job's filter, which is for records of these statuses. */
function recordMembers<Filter>(
  fields: RecordFields<never, Filter>, statuses: readonly string[],
): MemberSchemas {
  return {
    ...describeBodyMembers(fields, ['hook', 'status', 'event', 'since', 'until']),
    status: {
      schema: { kind: 'string', values: statuses }, description: 'Only these',
      option: { placeholder: '<status>', help: statuses.join(', ') },
    },
    where: whereMember,
  };
}

export const replayMembers: MemberSchemas = {
  // A job could not go on with rejected requests after a restart.
  ...recordMembers(requestFields, STORED_STATUSES),
  as: replayModeMember(
    '`retry` runs the same requests again, under the same ids; `new` copies of them'),
};

export const resendMembers: MemberSchemas = {
  // All statuses: a `retry` of a pending delivery sends it now, not at its next attempt.
  ...recordMembers(createDeliveryFields(() => null), OUTGOING_STATUSES),
  as: replayModeMember('`retry` sends the same deliveries again, under the same '
    + '`webhook-id`; `new` makes new ones, whose bodies are made anew'),
};

export const cancelMembers: MemberSchemas =
  recordMembers(createDeliveryFields(() => null), QUEUED_STATUSES);

/** Puts the identifier of a webhook in the place of its name. */
function resolveHookMember(directory: WebhookDirectory, filter: JsonObject): JsonObject {
  const { hook } = filter;
  return typeof hook === 'string' ? { ...filter, hook: resolveHook(directory, hook) } : filter;
}

function replayModeMember(description: string): MemberSchema {
  return { schema: { kind: 'string', values: ['retry', 'new'] }, default: 'retry', description };
}

export const backfillMembers: MemberSchemas = {
  since: {
    schema: timeSchema, isRequired: true,
    description: 'Events made at that time or later, such as 2026-01-31T12:00:00Z',
    option: {
      placeholder: '<time>',
      help: 'events made then or later: 2026-01-31T12:00:00Z, or 1h before now',
    },
  },
  until: {
    schema: timeSchema, description: 'Events made before that time',
    option: { placeholder: '<time>' },
  },
  name: {
    schema: {
      kind: 'string', minLength: 1, maxLength: 202, mustBe: NAME_PATTERN_RULE,
      canonical: (pattern) => createNameTest(pattern) === null ? null : pattern,
    },
    description: 'Only events of this name; `order.*` is every name below `order.`',
    option: {
      placeholder: '<event>', help: 'only events of this name, or below a prefix such as order.*',
    },
  },
};

function backfillRoute(jobs: Jobs, { keys, webhooks }: JobAdmission): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: 'backfill', path: `${outgoingResource.path}/{identifier}/backfill`,
    operationId: 'backfillOutgoingWebhook', name: 'Backfill', members: backfillMembers,
    bound: { scope: 'resend', subject: 'webhook' },
    bodyRules: {
      check: findTimeProblem,
      hint: (_, { since = null }) => since === null
        ? 'say from when on, such as { "since": "2026-01-31T12:00:00Z" }' : null,
    },
    summary: 'Send a webhook the kept events that it has missed, as a job that goes on after a '
      + 'restart',
    parameters: [createKeyParameter(outgoingResource)],
    async resolveFilter(filter, [name = '']) {
      const { identifier } = await webhooks.outgoing.getNamed(name);
      return { ...filter, hook: identifier };
    },
  });
}

function findTimeProblem({ since, until }: JsonObject): readonly FieldError[] {
  // Both are in one form by now, so they compare as texts.
  if (typeof since !== 'string' || typeof until !== 'string' || since < until) return [];
  return [{ pointer: '/until', detail: 'must be later than since' }];
}
