/** Serves `/api/configuration`: applies documents, and exports what is stored as one. */
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { DOCUMENT_BYTES_MAX } from '../../base/files/bounded-read.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { logChange } from '../../resources/change-log.ts';
import { evaluateConditions } from '../../resources/conditional-request.ts';
import { JSON_TYPE } from '../../resources/route-specs.ts';
import { readLargeJson } from '../../server/exchange/read-body.ts';
import type { Exchange } from '../../server/http-route.ts';
import type { OptionsChecks } from '../actions/options-checks.ts';
import {
  CONDITION_ADVICE, describeUnconditional, findHolders,
} from '../outgoing/token-holders.ts';
import type { RelayContext } from '../relay-context.ts';
import type { WebhooksOptions } from '../webhooks-options.ts';
import { parseDocument, type ConfigurationDocument } from './configuration-document.ts';
import type { ConfigurationPlan } from './document-schema.ts';
import { exportConfiguration } from './export-configuration.ts';
import {
  parseAhead, stageApply, type ApplicableDocument, type ConfiguredRecords, type StagedApply,
} from './stage-apply.ts';
import {
  computeConfigurationTag, createCommittedSource, readStoredConfiguration,
} from './stored-configuration.ts';

export type ConfiguredServices = ConfiguredRecords & {
  readonly optionsChecks: Pick<OptionsChecks, 'checkAhead'>;
  readonly listBoundTokens: NonNullable<WebhooksOptions['listBoundTokens']>;
};

/** Sends the stored configuration as a document, secrets as references to variables. */
export function handleExport(
  { store }: RelayContext, exchange: Exchange, isOnlyApplied: boolean,
): void {
  const configuration = readStoredConfiguration(createCommittedSource(store));
  const { etag } = configuration;
  const headers = ['ETag', etag, 'Cache-Control', 'no-cache'];
  const { 'if-none-match': noneMatch } = exchange.request.headers;
  const isKnown = noneMatch !== undefined && evaluateConditions(
    { 'if-none-match': noneMatch }, createComparedVersion(etag), true) === 'not_modified';
  if (isKnown) return exchange.send(304, headers);
  exchange.send(200, ['Content-Type', JSON_TYPE, ...headers],
    exportConfiguration(configuration, isOnlyApplied));
}

/**
 * Applies the document of a request, and sends the plan that was done with the tag after it. A
 * dry run does nothing: its plan has the tag that it is for. Throws `invalid` with pointers into
 * the document, `conflict`, `precondition_failed`, and what `Store.transact` throws.
 */
export async function handleApply(
  context: RelayContext, services: ConfiguredServices, exchange: Exchange,
): Promise<void> {
  const document = parseDocument(
    await readLargeJson(exchange, [JSON_TYPE], DOCUMENT_BYTES_MAX));
  if (!document.isDryRun) checkMayApply(exchange);
  const records = document.records.map((record) => ({
    ...record,
    newId: record.kind.naming === 'identifier' ? record.name : context.makeId(),
  }));
  const { apply, etag } = await services.optionsChecks.checkAhead(listOptions(document),
    () => transactApply(context, services, { ...document, records }, exchange));
  if (!document.isDryRun) {
    for (const description of apply.descriptions) logChange(exchange, description);
    logApply(context, document, apply);
    for (const { kind, id } of apply.removedRecords) {
      await services.repositories[kind.member].afterRemoved(id);
    }
  }
  exchange.sendJson(200, { ...apply.plan, ...describeHints(services, apply) }, ['ETag', etag]);
}

/** Says which webhooks of the plan hear what is not for the tokens alone that see them. */
function describeHints(
  { listBoundTokens }: ConfiguredServices, { foreseeOutgoing }: StagedApply,
): Pick<ConfigurationPlan, 'hints'> {
  const tokens = listBoundTokens();
  if (tokens.length === 0) return {};
  const { webhooks, changedIds } = foreseeOutgoing();
  const detail = describeUnconditional(findHolders(webhooks, tokens), ({ identifier }) =>
    changedIds.has(String(identifier)));
  return detail === null ? {} : { hints: [`${detail}; ${CONDITION_ADVICE}`] };
}

/** A dry run is staged as well, as only that tells of all conflicts, and then given up. */
async function transactApply(
  { store, turns }: RelayContext, services: ConfiguredServices, document: ApplicableDocument,
  exchange: Exchange,
): Promise<TaggedApply> {
  const { repositories } = services;
  const { headers } = exchange.request;
  // Any stager could make the inputs: all have one clock and one maker of ids.
  const inputs = repositories.outgoingWebhooks.stager.createInputs(
    parseHops(headers[CHAIN_HEADER]));
  const checkTag = createTagCheck(headers['if-match']);
  const parsedRecords = await turns.run(parseAhead(repositories, document,
    readStoredConfiguration(createCommittedSource(store)), inputs.nowMs)) ?? new Map();
  let dryRun: TaggedApply | null = null;
  try {
    return await store.transact((transaction) => {
      const configuration = readStoredConfiguration(transaction);
      checkTag(configuration.etag);
      const apply = stageApply(
        services, parsedRecords, transaction, document, configuration, inputs);
      if (!document.isDryRun && !document.isConfirmed) checkConfirmed(apply);
      if (!document.isDryRun) return { apply, etag: computeConfigurationTag(transaction) };
      dryRun = { apply, etag: configuration.etag };
      throw DRY_RUN_END;
    });
  } catch (thrown) {
    if (thrown !== DRY_RUN_END || dryRun === null) throw thrown;
    return dryRun;
  }
}

function logApply(
  { log }: RelayContext, { set }: ConfigurationDocument,
  { plan: { changes, unchanged } }: StagedApply,
): void {
  if (changes.length === 0) return;
  const count = (wanted: string): number => changes.filter(({ sign }) => sign === wanted).length;
  log.info('a configuration document was applied', {
    set, created: count('+'), changed: count('~'), deleted: count('-'), unchanged,
  });
}

/** Throws `forbidden` for a token that may only plan. */
function checkMayApply({ grant }: Exchange): void {
  if (grant === null || grant.scope === 'admin') return;
  throw new AppError('forbidden', `this needs a token of scope admin, not ${grant.scope}, with `
    + 'which "dryRun": true answers the plan');
}

/** The check of the tag of what is stored. It throws `malformed` for an If-Match without quotes. */
function createTagCheck(match: string | undefined): (etag: string) => void {
  if (match === undefined) return () => {};
  return (etag) => {
    const result = evaluateConditions({ 'if-match': match }, createComparedVersion(etag), false);
    if (result !== 'failed') return;
    throw new AppError('precondition_failed', 'the configuration was changed since the plan was '
      + 'made: nothing is done; plan it again');
  };
}

/** Conditions are evaluated against the tag alone, as no date is that of all records. */
function createComparedVersion(etag: string): Parameters<typeof evaluateConditions>[1] {
  return { etag, updatedAtMs: 0, changedAtMs: 0, isObserved: false };
}

/** Throws `conflict` where the plan does what nobody may mean. */
function checkConfirmed({ plan: { changes } }: StagedApply): void {
  const clauses = changes.flatMap(({ confirm = [] }) => confirm);
  if (clauses.length === 0) return;
  throw new AppError('conflict', `nothing was changed: this would ${clauses.join(', and ')}; send `
    + '"yes": true if that is meant');
}

/** The options of all action configurations, which their actions check before the transaction. */
function listOptions(
  { records }: ConfigurationDocument,
): Parameters<OptionsChecks['checkAhead']>[0] {
  return records.flatMap(({ kind, body: { actionType, options } }) =>
    kind.member !== 'actionConfigurations' ? []
      : [{ actionType: String(actionType), options: isJsonObject(options) ? options : {} }]);
}

/** `etag` is the tag of the stored configuration: see `StoredConfiguration`. */
type TaggedApply = { readonly apply: StagedApply; readonly etag: string };

/** Thrown to give up what a dry run has staged. */
const DRY_RUN_END = new Error('a dry run ends here');
