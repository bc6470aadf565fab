/** Asks for a token after a 401. Inputs on the screen behind stay as they are. */
import { ApiError, getJson, messageOf } from '../base/api-calls.ts';
import { h } from '../base/dom.ts';
import { callerSession, type CallerScope } from '../base/caller-session.ts';
import { openDialog } from './dialog.ts';

let openedDialog: HTMLDialogElement | null = null;

/** `onDone` is called once the token is accepted. */
export function openSignIn(onDone: () => void): void {
  if (openedDialog !== null) return;
  const input = h('input', {
    type: 'password', id: 'token', name: 'token', autocomplete: 'current-password', required: true,
  });
  const problem = h('p.problem', { role: 'alert' });
  const form = h('form', { onsubmit: (event) => {
    event.preventDefault();
    void tryToken();
  } },
  h('label', { for: 'token' }, 'API token'), input, problem,
  h('p.hint', 'It is kept for this tab alone. A new one: ',
    h('code', 'hookshelf token:create --name console --scope admin')),
  h('div.actions', h('button', { type: 'submit', class: 'primary' }, 'Sign in')));
  const dialog = openDialog('Sign in', [form], { stays: true });
  openedDialog = dialog;
  dialog.addEventListener('close', () => {
    openedDialog = null;
    // Nothing can be shown without a token: the dialog opens again.
    if (dialog.returnValue === '' && document.querySelector('main > *') === null) {
      openSignIn(onDone);
    }
  });
  async function tryToken(): Promise<void> {
    const before = callerSession.token;
    callerSession.signIn(input.value.trim());
    try {
      await loadScope();
      // This dialog, or the one that opened when it was closed meanwhile.
      openedDialog?.close('done');
      onDone();
    } catch (thrown) {
      if (before === null) callerSession.signOut();
      else callerSession.signIn(before);
      problem.textContent = thrown instanceof ApiError && thrown.status === 401
        ? 'This token is not known, or not any more.' : messageOf(thrown);
      input.select();
    }
  }
}

/** Asks the server what the token may do. Throws ApiError. */
export async function loadScope(): Promise<void> {
  const { scope } = await getJson<{ readonly scope: CallerScope }>('/api/access');
  callerSession.scope = scope;
}
