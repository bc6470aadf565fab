/** `/api/configuration`: the configuration as one document, read and applied. */
import { lazyImport } from '../../base/lazy-import.ts';
import {
  ANY_JSON, JSON_TYPE, arraySchema, jsonResponse, objectSchema,
} from '../../resources/route-specs.ts';
import { ETAG_HEADER, IF_NONE_MATCH } from '../../resources/send-representation.ts';
import type { HttpRoute, ParameterSpec } from '../../server/http-route.ts';
import { problemResponses } from '../../server/problem.ts';
import { readQuery } from '../../server/query.ts';
import type { ConfiguredServices } from './configuration-handlers.ts';
import type { RelayContext } from '../relay-context.ts';
import { createDocumentSchema, planSchema } from './document-schema.ts';
import { RECORD_KINDS } from './record-kinds.ts';

const PATH = '/api/configuration';

const loadHandlers = lazyImport(() => import('./configuration-handlers.ts'));

export function configurationRoutes(
  context: RelayContext, services: ConfiguredServices,
): readonly HttpRoute[] {
  return [exportRoute(context), applyRoute(context, services)];
}

const ONLY_APPLIED = {
  name: 'onlyApplied', in: 'query', schema: { kind: 'string', values: ['true', 'false'] },
  description: '`true`: only the records that an apply has created',
} as const satisfies ParameterSpec;

/** With references in place of secrets, so the models of the records do not describe it. */
const EXPORT_SCHEMA = objectSchema('ExportedConfiguration',
  Object.fromEntries(RECORD_KINDS.map(({ member }) => [member, arraySchema(ANY_JSON)])));

function exportRoute(context: RelayContext): HttpRoute {
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
    async handle(exchange) {
      const { onlyApplied } = readQuery(exchange.search, [ONLY_APPLIED]);
      (await loadHandlers()).handleExport(context, exchange, onlyApplied === 'true');
    },
  };
}

function applyRoute(context: RelayContext, services: ConfiguredServices): HttpRoute {
  return {
    method: 'PUT', path: PATH, operationId: 'applyConfiguration', access: 'read',
    summary: 'Make action configurations and webhooks what the document says, all or nothing; '
      + 'records that it does not name stay, unless `prune` deletes them. With `dryRun` it only '
      + 'answers the plan; without, it needs the scope `admin`',
    tool: {
      verb: 'plan', isReadOnly: true, body: { dryRun: true },
      summary: 'What applying the document would change; it changes nothing',
    },
    parameters: [{
      name: 'If-Match', in: 'header', schema: { kind: 'string' },
      description: 'The tag of a plan or of an export: 412 when anything was changed since, so '
        + 'that exactly that plan is done',
    }],
    body: {
      mediaTypes: [JSON_TYPE],
      // Only the documentation asks for it: an idle server does not make it.
      get schema() {
        return createDocumentSchema();
      },
    },
    responses: [
      {
        ...jsonResponse('What was done; with `dryRun`, what would be', planSchema),
        headers: { ETag: 'The tag after it; with `dryRun` the one that the plan is for' },
      },
      ...problemResponses(400, 409, 412, 413, 415, 422, 503, 507),
    ],
    handle: async (exchange) => (await loadHandlers()).handleApply(context, services, exchange),
  };
}
