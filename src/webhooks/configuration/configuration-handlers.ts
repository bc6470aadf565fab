/** Serves `/api/configuration`: see configuration-routes.ts, which loads this at its first use. */
import { AppError } from '../../base/errors.ts';
import { DOCUMENT_BYTES_MAX } from '../../base/files/bounded-read.ts';
import { CHAIN_HEADER, parseHops } from '../../base/webhook-chain.ts';
import { evaluateConditions } from '../../resources/conditional-request.ts';
import { JSON_TYPE } from '../../resources/route-specs.ts';
import { readLargeJson } from '../../server/exchange/large-json.ts';
import type { Exchange } from '../../server/http-route.ts';
import { parseDocument } from './configuration-document.ts';
import { ConfigurationService, type ConfigurationDeps } from './configuration-service.ts';

export class ConfigurationHandlers {
  readonly #service: ConfigurationService;

  constructor(deps: ConfigurationDeps) {
    this.#service = new ConfigurationService(deps);
  }

  export(exchange: Exchange, isOnlyApplied: boolean): void {
    const { text, etag } = this.#service.export(isOnlyApplied);
    const headers = ['ETag', etag, 'Cache-Control', 'no-cache'];
    const { 'if-none-match': noneMatch } = exchange.request.headers;
    const isKnown = noneMatch !== undefined && evaluateConditions(
      { 'if-none-match': noneMatch }, createComparedVersion(etag), true) === 'not_modified';
    if (isKnown) exchange.send(304, headers);
    else exchange.send(200, ['Content-Type', JSON_TYPE, ...headers], text);
  }

  async apply(exchange: Exchange): Promise<void> {
    const document = parseDocument(
      await readLargeJson(exchange, [JSON_TYPE], DOCUMENT_BYTES_MAX));
    if (!document.isDryRun) checkMayApply(exchange);
    const hops = parseHops(exchange.request.headers[CHAIN_HEADER]);
    const { plan, etag } =
      await this.#service.apply(document, createTagCheck(exchange), hops, exchange);
    exchange.sendJson(200, plan, ['ETag', etag]);
  }
}

/** Throws `forbidden` for a token that may only plan. */
function checkMayApply({ grant }: Exchange): void {
  if (grant === null || grant.scope === 'admin') return;
  throw new AppError('forbidden', `this needs a token of scope admin, not ${grant.scope}, with `
    + 'which "dryRun": true answers the plan');
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
