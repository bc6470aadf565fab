/** The routes that ask for a job, or with `dryRun` for how many records it would take. */
import { parseObject } from '../../base/fields.ts';
import type { JsonObject, MemberSchema, ObjectSchema } from '../../base/schema.ts';
import {
  IDEMPOTENCY_HEADER, IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, parseBody, type IdempotencyKeys,
} from '../../resources/idempotency-keys.ts';
import { JSON_TYPE, objectSchema, jsonResponse } from '../../resources/route-specs.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import type { Store } from '../../store/store-port.ts';
import { refuseChained } from '../http/chained.ts';
import { JOB_SCHEMA, shownJob, type Job } from './job.ts';
import type { Jobs } from './jobs.ts';
import { jobResource } from './resource.ts';

const COUNT_SCHEMA = objectSchema('Count', {
  count: { kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
});

/** What a route that asks for a job is made from. */
type BulkSpec = Pick<HttpRoute, 'path' | 'operationId' | 'summary'> & {
  readonly kind: string;
  /** The name of the body in the OpenAPI document. */
  readonly name: string;
  /** The members of its filter. */
  readonly members: Readonly<Record<string, MemberSchema>>;
  /** The identifier of the webhook that the filter names. */
  readonly hookOf: (name: string) => string;
};

type BulkParts = {
  readonly jobs: Jobs;
  readonly store: Store;
  readonly keys: IdempotencyKeys | null;
};

/** The route that adds a job of a kind, or with `dryRun` says how many records it would take. */
export function bulkRoute(
  { jobs, store, keys }: BulkParts, { kind, name, members, hookOf, ...named }: BulkSpec,
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
      filter: typeof hook === 'string' ? { ...filter, hook: hookOf(hook) } : filter,
    };
  };
  return {
    ...named, method: 'POST', access: 'write',
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
    async handle(exchange) {
      refuseChained(exchange);
      const accepted = ({ id }: Job): readonly string[] =>
        ['Content-Type', JSON_TYPE, 'Location', exchange.linkTo(`${jobResource.path}/${id}`)];
      if (keys === null || exchange.request.headers[IDEMPOTENCY_HEADER] === undefined) {
        const { isDryRun, filter } = parse(await exchange.readJson());
        if (isDryRun) return exchange.sendJson(200, { count: await jobs.count(kind, filter) });
        const job = await jobs.add(kind, filter);
        return exchange.send(202, accepted(job), JSON.stringify(shownJob(job)));
      }
      return keys.serve(exchange, [JSON_TYPE], async (given, remember) => {
        const { isDryRun, filter } = parse(parseBody(given));
        if (!isDryRun) {
          return jobs.add(kind, filter, (transaction, job) => remember(transaction, {
            status: 202, headers: accepted(job), body: JSON.stringify(shownJob(job)),
          }));
        }
        const body = JSON.stringify({ count: await jobs.count(kind, filter) });
        const headers = ['Content-Type', JSON_TYPE];
        return store.transact((transaction) =>
          remember(transaction, { status: 200, headers, body }));
      });
    },
  };
}
