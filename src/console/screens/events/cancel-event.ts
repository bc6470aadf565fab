/** Cancels an event that has not begun. */
import { callApi } from '../../base/api-calls.ts';
import { apiPath } from '../../base/screen-address.ts';
import { confirmAndCancel } from '../../parts/deletion.ts';

/** Asks first. Resolves with whether it is cancelled. */
export function cancelEvent(id: string): Promise<boolean> {
  return confirmAndCancel({
    title: 'Cancel the event?', text: 'It will not begin, and is not kept.',
    command: `hookshelf event:cancel ${id}`,
  }, () => callApi('DELETE', apiPath('events', id)));
}
