/** `/api/configuration`: the configuration as one document, read and applied. */
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { AppError } from '../../base/errors.ts';
import { DOCUMENT_BYTES_MAX } from '../../base/files/bounded-read.ts';
import type { ObjectSchema } from '../../base/schema.ts';
import { evaluateConditions } from '../../resources/conditional-request.ts';
import {
  ANY_JSON, JSON_TYPE, TEXT, arraySchema, jsonResponse, objectSchema,
} from '../../resources/route-specs.ts';
import { ETAG_HEADER, IF_NONE_MATCH } from '../../resources/send-representation.ts';
import { readLargeJson } from '../../server/exchange/large-json.ts';
import type { Exchange, HttpRoute, ParameterSpec } from '../../server/http-route.ts';
import { problemResponses } from '../../server/problem.ts';
import { parseChoiceParameter, parseQuery } from '../../server/query.ts';
import { documentSchema, parseDocument } from './configuration-document.ts';
import { PLAN_SIGNS } from './configuration-plan.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { RECORD_KINDS } from './record-kinds.ts';

const PATH = '/api/configuration';

export function configurationRoutes(service: ConfigurationService): readonly HttpRoute[] {
  return [exportRoute(service), applyRoute(service)];
}

const ONLY_APPLIED: ParameterSpec = {
  name: 'onlyApplied', in: 'query', schema: { kind: 'string', values: ['true', 'false'] },
  description: '`true`: only the records that an apply has created',
};

/** With references in place of secrets, so the models of the records do not describe it. */
const EXPORT_SCHEMA = objectSchema('ExportedConfiguration',
  Object.fromEntries(RECORD_KINDS.map(({ member }) => [member, arraySchema(ANY_JSON)])));

function exportRoute(service: ConfigurationService): HttpRoute {
  return {
    method: 'GET', path: PATH, operationId: 'exportConfiguration', access: 'read',
    summary: 'All action configurations and webhooks as a document for `hookshelf apply`; secrets '
      + 'are references to environment variables, webhooks without a name are left out',
    parameters: [ONLY_APPLIED, IF_NONE_MATCH],
    responses: [
      {
        ...jsonResponse('The document', EXPORT_SCHEMA),
        headers: { ETag: 'Strong tag of all action configurations and webhooks, secrets included' },
      },
      { status: 304, description: 'Not changed since', headers: ETAG_HEADER },
      ...problemResponses(400),
    ],
    handle(exchange) {
      const query = parseQuery(exchange.search, [ONLY_APPLIED.name]);
      const isOnlyApplied =
        parseChoiceParameter(query, ONLY_APPLIED.name, ['true', 'false']) === 'true';
      const { text, etag } = service.export(isOnlyApplied);
      const headers = ['ETag', etag, 'Cache-Control', 'no-cache'];
      const { 'if-none-match': noneMatch } = exchange.request.headers;
      const isKnown = noneMatch !== undefined && evaluateConditions(
        { 'if-none-match': noneMatch }, createComparedVersion(etag), true) === 'not_modified';
      if (isKnown) exchange.send(304, headers);
      else exchange.send(200, ['Content-Type', JSON_TYPE, ...headers], text);
    },
  };
}

const CHANGE_SCHEMA: ObjectSchema = objectSchema('PlannedChange', {
  sign: { kind: 'string', values: PLAN_SIGNS },
  kind: { kind: 'string', values: RECORD_KINDS.map(({ noun }) => noun) },
  name: TEXT, members: arraySchema(TEXT),
  waiting: { kind: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
}, { optional: ['members', 'waiting'] });

const PLAN_SCHEMA = objectSchema('ConfigurationPlan', {
  changes: arraySchema(CHANGE_SCHEMA),
  unchanged: { kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
});

function applyRoute(service: ConfigurationService): HttpRoute {
  return {
    method: 'PUT', path: PATH, operationId: 'applyConfiguration', access: 'admin',
    summary: 'Make action configurations and webhooks what the document says, all or nothing; '
      + 'records that it does not name stay, unless `prune` deletes them',
    parameters: [{
      name: 'If-Match', in: 'header', schema: { kind: 'string' },
      description: 'The tag of a plan or of an export: 412 when anything was changed since, so '
        + 'that exactly that plan is done',
    }],
    body: { mediaTypes: [JSON_TYPE], schema: documentSchema },
    responses: [
      {
        ...jsonResponse('What was done; with `dryRun`, what would be', PLAN_SCHEMA),
        headers: { ETag: 'The tag after it; with `dryRun` the one that the plan is for' },
      },
      ...problemResponses(400, 409, 412, 413, 415, 422, 503, 507),
    ],
    async handle(exchange) {
      const document = parseDocument(
        await readLargeJson(exchange, [JSON_TYPE], DOCUMENT_BYTES_MAX));
      const hops = parseHops(exchange.request.headers[CHAIN_HEADER]);
      const { plan, etag } = await service.apply(document, createTagCheck(exchange), hops);
      exchange.sendJson(200, plan, ['ETag', etag]);
    },
  };
}

/** Throws `malformed` for an If-Match without quotes. */
function createTagCheck({ request: { headers } }: Exchange): (etag: string) => void {
  const { 'if-match': match } = headers;
  if (match === undefined) return () => {};
  return (etag) => {
    const result = evaluateConditions({ 'if-match': match }, createComparedVersion(etag), false);
    if (result !== 'failed') return;
    throw new AppError('precondition_failed', 'the configuration was changed since the plan was '
      + 'made: nothing is done; plan it again');
  };
}

/** What conditions are evaluated against: the tag alone, as no date is that of all records. */
function createComparedVersion(etag: string): Parameters<typeof evaluateConditions>[1] {
  return { etag, updatedAtMs: 0, changedAtMs: 0, isObserved: false };
}
