/** Whether a request that is diagnosed had come before: by its event id, as it is remembered. */
import { loadCrypto } from '../../../base/node-modules.ts';
import { quoted } from '../../../base/text/refusal.ts';
import type { Repeated } from '../../senders/diagnosis/diagnose.ts';
import {
  RequestReader, readerOf, type SignedRequest,
} from '../../senders/request/reader.ts';
import type { LookedUp } from '../intake/duplicates.ts';
import type { ReadyHook } from '../receiving/hook-index.ts';
import { nameIn } from '../receiving/event-names.ts';
import type { DiagnosedRequest } from './diagnosed-request.ts';

/** What the webhook would find the event to be. */
export type LookUpEvent = (
  hook: ReadyHook, event: { readonly eventId: string; readonly bodySha256: string },
) => LookedUp;

export function findRepeated(
  hook: ReadyHook, { request, kept }: DiagnosedRequest, lookUpEvent: LookUpEvent,
): Repeated {
  if (kept !== null && kept.duplicateOf !== null) return duplicateOf(kept.duplicateOf);
  if (hook.eventId === null) return skipped('its sender gives no id that tells requests apart');
  if (hook.deduplicateMs === 0) {
    return skipped('the webhook remembers no event ids: deduplicate is off');
  }
  const eventId = kept?.eventId ?? nameIn(readerFor(hook, request), hook.eventId);
  if (eventId === null || eventId === '') return skipped('the request has no event id');
  if (kept?.isReplay === true) return skipped('a replay is never a duplicate');
  const bodySha256 = kept?.bodySha256 ?? loadCrypto().hash('sha256', request.body, 'hex');
  const { isReused, before } = lookUpEvent(hook, { eventId, bodySha256 });
  const what = `the event id ${quoted(eventId)}`;
  const isFirst = before === null || (before.of !== null && before.of === kept?.id);
  if (isFirst && isReused) {
    return { status: 'ok', finding: `${what} came before with another body, and is not signed` };
  }
  if (isFirst) {
    const finding = before === null ? `${what} is not remembered` : `${what} was new`;
    return { status: 'ok', finding };
  }
  const { of, hasFailed } = before;
  if (!hasFailed) return duplicateOf(of ?? 'a request that was not kept');
  return { status: 'ok', finding: `${what} came before, as ${of}, which failed: it runs again` };
}

function readerFor({ sender }: ReadyHook, request: SignedRequest): RequestReader {
  return sender === null ? new RequestReader(request)
    : readerOf(sender.verifier.scheme, request);
}

function duplicateOf(what: string): Repeated {
  return { status: 'failed', finding: `a duplicate of ${what}` };
}

function skipped(finding: string): Repeated {
  return { status: 'skipped', finding };
}
