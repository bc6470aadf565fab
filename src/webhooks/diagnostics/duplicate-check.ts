/** Checks whether a diagnosed request is a duplicate, as its webhook would by the event id. */
import { loadCrypto } from '../../base/node-modules.ts';
import { quote } from '../../base/text/error-message.ts';
import type { PartFinding } from '../senders/diagnosis/diagnose.ts';
import {
  RequestReader, createRequestReader, type RawRequest,
} from '../senders/request/request-reader.ts';
import type { Duplicates } from '../inbox/intake/duplicates.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import { readNameOrId } from '../incoming/receiving/admitted-request.ts';
import type { DiagnosedRequest } from './diagnosed-request.ts';

/**
 * The finding, by what the webhook remembers of the event id:
 *
 * - the id is not remembered, or is remembered from this very request: ok;
 * - the same, but the id came before with another body: ok, since id and body make the event;
 * - another request had it and has failed: ok, the event runs again;
 * - another request had it and has not failed: a duplicate.
 *
 * A stored request that was a duplicate when it came stays one. The check is skipped where the
 * webhook does not look for duplicates, and for a replay.
 */
export function checkDuplicate(
  webhook: ReadyIncomingWebhook, { request, storedRequest }: DiagnosedRequest,
  duplicates: Pick<Duplicates, 'lookUp'>,
): PartFinding {
  const { duplicateOf = null } = storedRequest ?? {};
  if (duplicateOf !== null) return toDuplicateFinding(duplicateOf);
  if (webhook.eventIdSources === null) {
    return toSkippedFinding('its sender gives no id that tells requests apart');
  }
  if (webhook.deduplicateMs === 0) {
    return toSkippedFinding('the webhook remembers no event ids: deduplicate is off');
  }
  const eventId = storedRequest?.eventId
    ?? readNameOrId(createReader(webhook, request), webhook.eventIdSources);
  if (eventId === null || eventId === '') return toSkippedFinding('the request has no event id');
  if (storedRequest?.isReplay === true) return toSkippedFinding('a replay is never a duplicate');
  const bodySha256 = storedRequest?.bodySha256 ?? loadCrypto().hash('sha256', request.body, 'hex');
  const { isIdReused, previous } = duplicates.lookUp(webhook, { eventId, bodySha256 });
  const idText = `the event id ${quote(eventId)}`;
  const isFirst = previous === null
    || (previous.requestId !== null && previous.requestId === storedRequest?.id);
  if (isFirst && isIdReused) {
    return { status: 'ok', finding: `${idText} came before with another body, and is not signed` };
  }
  if (isFirst) {
    const finding = previous === null ? `${idText} is not remembered` : `${idText} was new`;
    return { status: 'ok', finding };
  }
  const { requestId, hasFailed } = previous;
  if (!hasFailed) return toDuplicateFinding(requestId ?? 'a request that was not kept');
  return {
    status: 'ok', finding: `${idText} came before, as ${requestId}, which failed: it runs again`,
  };
}

function createReader({ sender }: ReadyIncomingWebhook, request: RawRequest): RequestReader {
  return sender === null ? new RequestReader(request)
    : createRequestReader(sender.verifier.scheme, request);
}

function toDuplicateFinding(original: string): PartFinding {
  return { status: 'failed', finding: `a duplicate of ${original}` };
}

function toSkippedFinding(finding: string): PartFinding {
  return { status: 'skipped', finding };
}
