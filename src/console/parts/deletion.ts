/** Deletes a record after a question, and puts it back while the notice of that stands. */
import { callApi } from '../base/api-calls.ts';
import { goToScreen } from '../base/screen-address.ts';
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
  showNotice(notice, 'good', undo);
}
