/** Deletes a record after a question, and puts it back while the notice of that stands. */
import { callApi, countItems } from '../base/api-calls.ts';
import { formatQuantity } from '../base/format.ts';
import { apiPath, goToScreen } from '../base/screen-address.ts';
import { asyncButton } from './buttons.ts';
import { askToConfirm } from './dialog.ts';
import { showNotice } from './notice.ts';
import { goToList } from './screen.ts';

type Deletion = {
  /** The name of the record in notices. */
  readonly name: string;
  /** In the API. */
  readonly path: string;
  readonly address: readonly string[];
  /** Says what the deletion has ended for good; null: nothing. */
  readonly ended?: string | null;
  /** `Deleted <name>.` by default. */
  readonly notice?: string;
};

type Question = Pick<Parameters<typeof askToConfirm>[0], 'title' | 'text' | 'command'>;

/** Asks first. Once it is deleted, goes to its list, from the screen of it. Throws ApiError. */
export async function confirmAndDelete(
  container: HTMLElement, deletion: Deletion, question: Question,
): Promise<void> {
  const isSure = await askToConfirm({ ...question, action: 'Delete it', isDestructive: true });
  if (!isSure) return;
  await callApi('DELETE', deletion.path);
  offerUndo(deletion);
  goToList(container, deletion.address[0] ?? '');
}

/** The requests or deliveries that wait for a webhook end with it. */
const WAITING = {
  incoming: {
    noun: 'request', list: 'requests', end: 'fail', ended: 'Requests that waited have failed.',
  },
  outgoing: {
    noun: 'delivery', list: 'deliveries', end: 'be cancelled',
    ended: 'Deliveries that waited stay cancelled.',
  },
} as const;

/** `loss` says what is no more. Asks nothing when the user has left meanwhile. Throws ApiError. */
export async function deleteWebhook(
  container: HTMLElement, kind: keyof typeof WAITING, identifier: string, name: string,
  loss: string,
): Promise<void> {
  const { noun, list, end, ended } = WAITING[kind];
  const count = await countItems(`/api/${list}`, { hook: identifier, status: 'pending' });
  if (!container.isConnected) return;
  const warning = count === 0 ? ''
    : ` ${formatQuantity(count, noun, list)} that still ${
      count === 1 ? 'waits' : 'wait'} will ${end}.`;
  await confirmAndDelete(container, {
    name, path: apiPath(`${kind}-webhooks`, identifier), address: [kind, identifier],
    ended: count === 0 ? null : ended,
  }, {
    title: `Delete ${name}?`,
    text: `Its secret and its settings will be lost, and ${loss}.${warning}`,
    command: `hookshelf ${kind}webhook:delete --identifier ${identifier}`,
  });
}

/** Asks first. Resolves with whether it is cancelled. Throws what `cancel` throws. */
export async function confirmAndCancel(
  question: Question, cancel: () => Promise<unknown>,
): Promise<boolean> {
  const isSure = await askToConfirm({ ...question, action: 'Cancel it', isDestructive: true });
  if (!isSure) return false;
  await cancel();
  showNotice('Cancelled.');
  return true;
}

/** Says that it is deleted, with a button that puts it back. */
export function offerUndo(
  { name, path, address, ended = null, notice = `Deleted ${name}.` }: Deletion,
): void {
  const undo = asyncButton('Undo', async () => {
    await callApi('POST', `${path}/restore`);
    undo.parentElement?.remove();
    showNotice(ended === null ? `${name} is back.` : `${name} is back. ${ended}`);
    goToScreen(address);
  });
  showNotice(notice, 'good', { undo });
}
