/** Whether a request that is diagnosed had come before: by its event id, as it is remembered. */
import { quoted } from '../../../base/text/refusal.ts';
import type { Repeated } from '../../senders/diagnosis/diagnose.ts';
import { RequestReader } from '../../senders/request/reader.ts';
import type { ReadyHook } from '../receiving/hook-index.ts';
import { nameIn } from '../receiving/received-call.ts';
import type { DiagnosedRequest } from './diagnosed-request.ts';

/** The request that first had an event id; null: none is remembered. */
export type FindFirst = (hook: string, eventId: string) => string | null;

export function findRepeated(
  { identifier, eventId: sources, deduplicateMs }: ReadyHook,
  { request, kept }: DiagnosedRequest, findFirst: FindFirst,
): Repeated {
  if (kept?.duplicateOf !== null && kept?.duplicateOf !== undefined) {
    return { status: 'failed', finding: `a duplicate of ${kept.duplicateOf}` };
  }
  if (sources === null) {
    return { status: 'skipped', finding: 'its sender gives no id that tells requests apart' };
  }
  if (deduplicateMs === 0) {
    return { status: 'skipped', finding: 'the webhook remembers no event ids: deduplicate is off' };
  }
  const eventId = kept?.eventId ?? nameIn(new RequestReader(request, null), sources);
  if (eventId === null) return { status: 'skipped', finding: 'the request has no event id' };
  const first = findFirst(identifier, eventId);
  if (first !== null && first !== kept?.id && kept?.isReplay !== true) {
    return { status: 'failed', finding: `a duplicate of ${first}` };
  }
  const what = first === null ? 'is not remembered' : 'came for the first time';
  return { status: 'ok', finding: `the event id ${quoted(eventId)} ${what}` };
}
