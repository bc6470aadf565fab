/** What several views of events need: paths, bodies, and cancelling an event. */
import { encodeJson } from '../../base/json-text.ts';
import { callApi } from '../../base/api-calls.ts';
import { askToConfirm } from '../../parts/dialog.ts';
import { showNotice } from '../../parts/notice.ts';

export function eventPath(id: string): string {
  return `/api/events/${encodeURIComponent(id)}`;
}

/** Asks, and cancels an event that has not begun. Resolves with whether it is cancelled. */
export async function cancelEvent(id: string): Promise<boolean> {
  const isSure = await askToConfirm({
    title: 'Cancel the event?', text: 'It will not begin, and is not kept.', action: 'Cancel it',
    isDestructive: true, command: `hookshelf event:cancel ${id}`,
  });
  if (!isSure) return false;
  await callApi('DELETE', eventPath(id));
  showNotice('Cancelled.');
  return true;
}

/** Posts a body whose payload is JSON text, which is sent byte for byte. */
export async function postPayload<Result>(
  path: string, members: Readonly<Record<string, unknown>>, payloadText: string,
): Promise<Result> {
  const otherMembers = encodeJson(members).slice(1);
  const comma = otherMembers === '}' ? '' : ',';
  const { body } = await callApi<Result>('POST', path, {
    raw: `{"payload":${payloadText}${comma}${otherMembers}`,
    headers: { 'Content-Type': 'application/json' },
  });
  return body;
}
