/** The route that adds a backfill: `POST /api/outgoing-webhooks/{identifier}/backfill`. */
import type { FieldError } from '../../base/errors.ts';
import { NAME_PATTERN_RULE, createNameTest } from '../../base/event-name.ts';
import type { JsonObject, MemberSchema } from '../../base/schema.ts';
import { timeSchema } from '../../base/time.ts';
import type { IdempotencyKeys } from '../../resources/idempotency-keys.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import type { Store } from '../../store/store-port.ts';
import { getNamedWebhook } from '../outgoing/get-named-webhook.ts';
import { outgoingResource } from '../outgoing/outgoing-resource.ts';
import type { OutgoingWebhookIndex } from '../outgoing/outgoing-webhook-index.ts';
import { bulkRoute } from './bulk-route.ts';
import type { Jobs } from './jobs.ts';

export const BACKFILL_KIND = 'backfill';

const members: Readonly<Record<string, MemberSchema>> = {
  since: {
    schema: timeSchema, isRequired: true,
    description: 'Events made at that time or later, such as 2026-01-31T12:00:00Z',
  },
  until: { schema: timeSchema, description: 'Events made before that time' },
  name: {
    schema: {
      kind: 'string', minLength: 1, maxLength: 202, description: NAME_PATTERN_RULE,
      canonical: (pattern) => createNameTest(pattern) === null ? null : pattern,
    },
    description: 'Only events of this name; `order.*` is every name below `order.`',
  },
};

export function backfillRoute(jobs: Jobs, { store, keys, webhooks }: {
  readonly store: Store; readonly keys: IdempotencyKeys | null;
  readonly webhooks: Pick<OutgoingWebhookIndex, 'findNamed'>;
}): HttpRoute {
  return bulkRoute({ jobs, keys }, {
    kind: BACKFILL_KIND, path: `${outgoingResource.path}/{identifier}/backfill`,
    operationId: 'backfillOutgoingWebhook', name: 'Backfill', members,
    bodyRules: {
      check: findTimeProblem,
      hint: (_, { since = null }) => since === null
        ? 'say from when on, such as { "since": "2026-01-31T12:00:00Z" }' : null,
    },
    summary: 'Send a webhook the kept events that it has missed, as a job that goes on after a '
      + 'restart',
    parameters: [createKeyParameter(outgoingResource)],
    async resolveFilter(filter, [name = '']) {
      const { identifier } = await getNamedWebhook({ store, webhooks }, name);
      return { ...filter, hook: identifier };
    },
  });
}

function findTimeProblem({ since, until }: JsonObject): readonly FieldError[] {
  // Both are in one form by now, so they compare as texts.
  if (typeof since !== 'string' || typeof until !== 'string' || since < until) return [];
  return [{ pointer: '/until', detail: 'must be later than since' }];
}
