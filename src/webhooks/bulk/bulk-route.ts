/** Makes the HTTP routes that add a job, or with `dryRun` count the records it would take. */
import { parseObject } from '../../base/fields.ts';
import type { JsonObject, MemberSchema, ObjectSchema } from '../../base/schema.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, acceptedResponse, serveOnce, type IdempotencyKeys,
} from '../../resources/idempotency-keys.ts';
import { JSON_TYPE, jsonResponse } from '../../resources/route-specs.ts';
import { parseJsonBody } from '../../server/exchange/read-body.ts';
import { problemResponses } from '../../server/problem.ts';
import type { Binding, HttpRoute } from '../../server/http-route.ts';
import { refuseChained } from '../members/refuse-chained.ts';
import { COUNT_SCHEMA, JOB_SCHEMA, toPublicJob } from './job.ts';
import type { Jobs } from './jobs.ts';
import { jobResource } from './job-resource.ts';

type BulkSpec = Pick<HttpRoute, 'path' | 'operationId' | 'summary' | 'parameters' | 'bound'> & {
  readonly kind: string;
  /** The name of the body in the OpenAPI document. */
  readonly name: string;
  /** The members of the body: those of the filter, and options of the job. */
  readonly members: Readonly<Record<string, MemberSchema>>;
  /**
   * Makes the filter of the job from that of the body, which names a webhook as people do. Throws
   * if there cannot be such a job. `params` are those of the path.
   */
  readonly resolveFilter:
    (filter: JsonObject, params: readonly string[]) => JsonObject | Promise<JsonObject>;
  /**
   * Restricts that filter to the webhooks of a bound token. Absent: no bound token may call the
   * route, or its path names the only webhook.
   */
  readonly bindFilter?: (filter: JsonObject, binding: Binding) => JsonObject;
  readonly bodyRules?: Pick<ObjectSchema, 'check' | 'hint'>;
};

export function bulkRoute(
  { jobs, keys }: { readonly jobs: Jobs; readonly keys: IdempotencyKeys },
  {
    kind, name, members, resolveFilter, bindFilter, bodyRules = {}, parameters = [], ...route
  }: BulkSpec,
): HttpRoute {
  const schema: ObjectSchema = {
    kind: 'object', name, ...bodyRules,
    members: {
      ...members,
      dryRun: {
        schema: { kind: 'boolean' }, default: false,
        description: 'Do nothing, and say how many there are',
      },
    },
  };
  return {
    ...route, method: 'POST', access: 'write',
    parameters: [...parameters, IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema },
    responses: [
      jsonResponse('A dry run: how many there are', COUNT_SCHEMA),
      {
        ...jsonResponse('The job that does it', JOB_SCHEMA, 202),
        headers: { ...REPLAYED_HEADERS, Location: 'The job' },
      },
      ...parameters.length === 0 ? [] : problemResponses(404),
      ...problemResponses(400, 409, 413, 415, 422, 503, 507),
    ],
    handle(exchange) {
      refuseChained(exchange);
      return serveOnce(keys, exchange, async (body, keepResponse) => {
        const { dryRun, ...bodyFilter } = parseObject(schema, parseJsonBody(body));
        const binding = exchange.grant?.binding;
        const resolvedFilter = await resolveFilter(bodyFilter, exchange.params);
        const filter = binding === undefined || bindFilter === undefined ? resolvedFilter
          : bindFilter(resolvedFilter, binding);
        if (dryRun === true) {
          const count = await jobs.count(kind, filter);
          return keepResponse(null, {
            status: 200, headers: ['Content-Type', JSON_TYPE], body: JSON.stringify({ count }),
          });
        }
        return jobs.add(kind, filter, {
          token: binding?.tokenId,
          onAdded(transaction, job) {
            const location = exchange.linkTo(`${jobResource.path}/${job.id}`);
            keepResponse(transaction,
              acceptedResponse(JSON.stringify(toPublicJob(job)), ['Location', location]));
          },
        });
      });
    },
  };
}
