/** Short notices, failures in place of content, and the content of empty lists. */
import { hasStatus, messageOf } from '../base/api-calls.ts';
import { h, fill, type Child } from '../base/dom.ts';
import { href, parseAddress, recallQuery } from '../base/screen-address.ts';
import { codeBlock } from './code-block.ts';

const NOTICE_MS = 6000;
const UNDO_MS = 10_000;
/** Whoever has left the page in the midst of its work may come back to it late. */
const ENDED_MS = 60_000;
const ENDED_KEY = 'hookshelf-ended-work';
/** A notice stays so much longer while somebody points at it, or has the focus in it. */
const REMAIN_MS = 1000;
/** More would cover a small page: the oldest goes. */
const SHOWN_MAX = 3;
const region = h('div.notices', { role: 'status', 'aria-live': 'polite' });

export function noticeRegion(): HTMLElement {
  return region;
}

type NoticeOptions = {
  /** Takes back what the notice tells; the key `u` presses it. */
  readonly undo?: HTMLButtonElement | null;
  /** What the notice is about: it takes the place of the one before about the same. */
  readonly about?: string;
  readonly ms?: number;
};

export function showNotice(
  text: string, kind: 'good' | 'waiting' | 'bad' = 'good',
  { undo = null, about = text, ms = undo === null ? NOTICE_MS : UNDO_MS }: NoticeOptions = {},
): void {
  undo?.setAttribute('aria-keyshortcuts', 'u');
  const notice = h('p', { class: `notice ${kind}`, 'data-about': about }, text, ' ', undo,
    h('button.quiet', { 'aria-label': 'Close', onclick: () => notice.remove() }, '×'));
  const remove = (): void => {
    if (notice.matches(':hover, :focus-within')) setTimeout(remove, REMAIN_MS);
    else notice.remove();
  };
  const others = [...region.querySelectorAll<HTMLElement>('[data-about]')];
  others.find(({ dataset }) => dataset['about'] === about)?.remove();
  others.filter(({ isConnected }) => isConnected).slice(0, 1 - SHOWN_MAX)
    .forEach((oldest) => oldest.remove());
  region.append(notice);
  setTimeout(remove, ms);
}

export function undoLast(): void {
  [...region.querySelectorAll<HTMLElement>('[aria-keyshortcuts]')].at(-1)?.click();
}

/** A notice of work that this page does: it stays on every screen until `close` is called. */
export function showProgress(
  stop: () => void,
): { readonly show: (text: string) => void; readonly close: () => void } {
  const text = h('span');
  // Not each step is read aloud: the notice of the outcome is.
  const notice = h('p.notice.waiting', { 'aria-live': 'off' }, text, ' ',
    h('button', { onclick: stop }, 'Stop'));
  region.append(notice);
  const keep = (): void => sessionStorage.setItem(ENDED_KEY, text.textContent ?? '');
  addEventListener('pagehide', keep);
  return {
    show: (progress) => fill(text, progress),
    close() {
      notice.remove();
      removeEventListener('pagehide', keep);
    },
  };
}

/** Says how far the work of the page before had come, which ended with that page. */
export function tellEndedWork(): void {
  const text = sessionStorage.getItem(ENDED_KEY);
  if (text === null) return;
  sessionStorage.removeItem(ENDED_KEY);
  showNotice(`${text} The page was left, which stopped it.`, 'bad', { ms: ENDED_MS });
}

/** Shows an error as a notice, unless the sign-in or the connection banner shows it already. */
export function showFailureNotice(thrown: unknown): void {
  if (hasStatus(thrown, 401) || hasStatus(thrown, 0)) return;
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return;
  showNotice(messageOf(thrown), 'bad');
}

/**
 * Shows an error in place of content that could not be fetched. A record that is not there leads to
 * its list.
 */
export function showFailureIn(container: HTMLElement, thrown: unknown, retry: () => void): void {
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return;
  const [screen = '', ...record] = parseAddress().path;
  fill(container, h('div.empty.failure', { role: 'alert' },
    h('p', messageOf(thrown)),
    hasStatus(thrown, 404) && record.length > 0
      ? h('a', { href: href([screen], recallQuery([screen])) }, '← To the list')
      : h('button', { onclick: retry }, 'Try again')));
}

/** Whether a failure stands in the container, or in a part of it, in place of content. */
export function hasFailure(container: HTMLElement): boolean {
  return container.querySelector('.failure') !== null;
}

export function loadingLine(): HTMLElement {
  return h('p.count', { role: 'status' }, 'Loading…');
}

/** The content of an empty list: what to do next, with a command to copy. */
export function emptyState(text: string, command: string | null, ...more: Child[]): HTMLElement {
  return h('div.empty',
    h('p', text), command === null ? null : codeBlock(command), ...more);
}
