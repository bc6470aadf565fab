/** Calls that several views of events share: the path of an event, and its cancellation. */
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
