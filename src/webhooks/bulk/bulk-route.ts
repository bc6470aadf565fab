/** Makes the HTTP routes that add a job, or with `dryRun` count the records it would take. */
import { parseObject } from '../../base/fields.ts';
import type { JsonObject, MemberSchema, ObjectSchema } from '../../base/schema.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, parseBody, serveOnce, type IdempotencyKeys,
} from '../../resources/idempotency-keys.ts';
import { JSON_TYPE, objectSchema, jsonResponse } from '../../resources/route-specs.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import { refuseChained } from '../http/refuse-chained.ts';
import { JOB_SCHEMA, toPublicJob } from './job.ts';
import type { Jobs } from './jobs.ts';
import { jobResource } from './job-resource.ts';

const COUNT_SCHEMA = objectSchema('Count', {
  count: { kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
});

/** Describes a route that adds jobs of one kind. */
type BulkSpec = Pick<HttpRoute, 'path' | 'operationId' | 'summary'> & {
  readonly kind: string;
  /** The name of the body in the OpenAPI document. */
  readonly name: string;
  /** The members of the body: those of the filter, and options of the job. */
  readonly members: Readonly<Record<string, MemberSchema>>;
  /** Finds the identifier of the webhook that the filter names. */
  readonly resolveHookId: (name: string) => string;
};

export function bulkRoute(
  { jobs, keys }: { readonly jobs: Jobs; readonly keys: IdempotencyKeys | null },
  { kind, name, members, resolveHookId, ...route }: BulkSpec,
): HttpRoute {
  const schema: ObjectSchema = {
    kind: 'object', name,
    members: {
      ...members,
      dryRun: {
        schema: { kind: 'boolean' }, default: false,
        description: 'Do nothing, and say how many there are',
      },
    },
  };
  const parse = (body: unknown): { readonly isDryRun: boolean; readonly filter: JsonObject } => {
    const { dryRun, hook, ...filter } = parseObject(schema, body);
    return {
      isDryRun: dryRun === true,
      filter: typeof hook === 'string' ? { ...filter, hook: resolveHookId(hook) } : filter,
    };
  };
  return {
    ...route, method: 'POST', access: 'write',
    parameters: [IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema },
    responses: [
      jsonResponse('A dry run: how many there are', COUNT_SCHEMA),
      {
        ...jsonResponse('The job that does it', JOB_SCHEMA, 202),
        headers: { ...REPLAYED_HEADERS, Location: 'The job' },
      },
      ...problemResponses(400, 409, 413, 415, 422, 503, 507),
    ],
    handle(exchange) {
      refuseChained(exchange);
      return serveOnce(keys, exchange, [JSON_TYPE], async (body, keepResponse) => {
        const { isDryRun, filter } = parse(parseBody(body));
        if (isDryRun) {
          const count = await jobs.count(kind, filter);
          return keepResponse(null, {
            status: 200, headers: ['Content-Type', JSON_TYPE], body: JSON.stringify({ count }),
          });
        }
        return jobs.add(kind, filter, (transaction, job) => {
          const location = exchange.linkTo(`${jobResource.path}/${job.id}`);
          keepResponse(transaction, {
            status: 202, headers: ['Content-Type', JSON_TYPE, 'Location', location],
            body: JSON.stringify(toPublicJob(job)),
          });
        });
      });
    },
  };
}
