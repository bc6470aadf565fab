/**
 * Asks for a token after a 401, while inputs on the screen behind stay as they are; or takes one
 * from the address of a link, `/console#token=…`.
 */
import type { ResponseBodyOf } from '../../app/api-types.ts';
import { getJson, hasStatus, messageOf } from '../base/api-calls.ts';
import { h } from '../base/dom.ts';
import { callerSession } from '../base/caller-session.ts';
import { ask, openDialog } from './dialog.ts';
import { showNotice } from './notice.ts';

const LINK = /^#token=/;
/** Up to the token, of a whole link that somebody pastes. */
const LINK_START = /^https?:\S*#token=/;
/** The characters of a token in an Authorization header (RFC 6750 §2.1). */
const TOKEN = /^[\w.~+/-]+=*$/;
const REFUSED = 'This token is not known, or not any more.';
let openedDialog: HTMLDialogElement | null = null;
let hasOpenedLink = false;

/**
 * `onDone` is called once the token is accepted. Somebody who had a token or a link is told to ask
 * for another one; the command that makes a token is shown in a tab that had none.
 */
export function openSignIn(onDone: () => void): void {
  if (openedDialog !== null) return;
  const input = h('input', {
    type: 'password', id: 'token', name: 'token', autocomplete: 'current-password', required: true,
  });
  const problem = h('p.problem', { role: 'alert' }, callerSession.token === null ? '' : REFUSED);
  const form = h('form', { onsubmit: (event) => {
    event.preventDefault();
    void tryToken();
  } },
  h('label', { for: 'token' }, 'API token'), input, problem,
  h('p.hint', 'It is kept for this tab alone. ', ...hasOpenedLink || callerSession.token !== null
    ? ['Ask who sent you the link, or the token, for another one.']
    : ['Whoever was sent a link opens it again, or pastes it here. On the server a token is made: ',
      h('code', 'hookshelf token:create --name console --scope admin')]),
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
  const before = callerSession.token;
  async function tryToken(): Promise<void> {
    const token = input.value.trim().replace(LINK_START, '');
    callerSession.signIn(token);
    try {
      await loadAccess();
      // This dialog, or the one that opened when it was closed meanwhile.
      openedDialog?.close('done');
      onDone();
    } catch (thrown) {
      // The user has given another one meanwhile.
      if (callerSession.token !== token) return;
      if (before === null) callerSession.signOut();
      else callerSession.signIn(before);
      problem.textContent = hasStatus(thrown, 401) ? REFUSED : messageOf(thrown);
      input.select();
    }
  }
}

/**
 * Takes the token that the address holds, if it does, and puts the address `hash` in the place of
 * this one, in the history too, before anything else is done: nobody shall find the token there. A
 * tab that has another token asks. Resolves with whether the tab has a new token.
 */
export async function takeLinkedToken(hash: string): Promise<boolean> {
  const address = location.hash;
  if (!LINK.test(address)) return false;
  hasOpenedLink = true;
  history.replaceState(null, '', hash);
  const token = address.replace(LINK, '');
  if (!TOKEN.test(token)) {
    showNotice('The link holds no whole token. Ask who sent it for another one.', 'bad');
    return false;
  }
  if (token === callerSession.token) return false;
  const isWanted = callerSession.token === null || await ask('Sign in with the link?', [
    h('p', 'This tab is signed in with another token, which it will forget.'),
  ], [[false, 'Stay signed in as I am'], [true, 'Use the link', 'primary']]);
  if (isWanted === true) callerSession.signIn(token);
  return isWanted === true;
}

/** Calls `onTaken` when a link with a token is opened in this page and its token is taken. */
export function listenToLinks(onTaken: () => void): void {
  addEventListener('hashchange', (event) => {
    if (!LINK.test(location.hash)) return;
    // No screen has this address.
    event.stopImmediatePropagation();
    void takeLinkedToken(new URL(event.oldURL).hash || '#/').then((isTaken) => {
      if (isTaken) onTaken();
    });
  });
}

/** Throws ApiError. */
export async function loadAccess(): Promise<void> {
  callerSession.access = await getJson<ResponseBodyOf<'GET', '/api/access'>>('/api/access');
}
