/** Whether a request that is diagnosed had come before: by its event id, as it is remembered. */
import { loadCrypto } from '../../../base/node-modules.ts';
import { quoted } from '../../../base/text/refusal.ts';
import type { Repeated } from '../../senders/diagnosis/diagnose.ts';
import { RequestReader } from '../../senders/request/reader.ts';
import type { LookedUp } from '../intake/duplicates.ts';
import type { ReadyHook } from '../receiving/hook-index.ts';
import { nameIn } from '../receiving/received-call.ts';
import type { DiagnosedRequest } from './diagnosed-request.ts';

/** What is remembered of an event id of a webhook; null: nothing. */
export type LookUpEvent = (hook: string, eventId: string) => LookedUp | null;

export function findRepeated(
  hook: ReadyHook, diagnosed: DiagnosedRequest, lookUpEvent: LookUpEvent,
): Repeated {
  const { request, kept } = diagnosed;
  if (kept !== null && kept.duplicateOf !== null) return duplicateOf(kept.duplicateOf);
  if (hook.eventId === null) return skipped('its sender gives no id that tells requests apart');
  if (hook.deduplicateMs === 0) {
    return skipped('the webhook remembers no event ids: deduplicate is off');
  }
  const eventId = kept?.eventId ?? nameIn(new RequestReader(request, null), hook.eventId);
  if (eventId === null || eventId === '') return skipped('the request has no event id');
  if (kept?.isReplay === true) return skipped('a replay is never a duplicate');
  const known = lookUpEvent(hook.identifier, eventId);
  const what = `the event id ${quoted(eventId)}`;
  if (known === null) return { status: 'ok', finding: `${what} is not remembered` };
  const { of, hasFailed, bodySha256 } = known;
  if (of !== null && of === kept?.id) return { status: 'ok', finding: `${what} was new` };
  const sha256 = loadCrypto().hash('sha256', request.body, 'hex');
  if (!hook.isEventIdSigned && bodySha256 !== null && bodySha256 !== sha256) {
    return { status: 'ok', finding: `${what} came before with another body, and is not signed` };
  }
  if (hasFailed) {
    return { status: 'ok', finding: `${what} came before, as ${of}, which failed: it runs again` };
  }
  return duplicateOf(of ?? 'a request that was not kept');
}

function duplicateOf(what: string): Repeated {
  return { status: 'failed', finding: `a duplicate of ${what}` };
}

function skipped(finding: string): Repeated {
  return { status: 'skipped', finding };
}
