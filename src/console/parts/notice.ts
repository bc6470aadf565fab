/** Short notices, failures in place of content, and the content of empty lists. */
import { ApiError, messageOf } from '../base/api-calls.ts';
import { h, fill, type Child } from '../base/dom.ts';
import { codeBlock } from './code-block.ts';

const NOTICE_MS = 6000;
const region = h('div.notices', { role: 'status', 'aria-live': 'polite' });

export function noticeRegion(): HTMLElement {
  return region;
}

export function showNotice(text: string, kind: 'good' | 'bad' = 'good'): void {
  const notice = h('p', { class: `notice ${kind}` }, text);
  region.append(notice);
  setTimeout(() => notice.remove(), NOTICE_MS);
}

/** Shows an error as a notice, unless the sign-in or the connection banner shows it already. */
export function showFailureNotice(thrown: unknown): void {
  if (thrown instanceof ApiError && (thrown.status === 401 || thrown.status === 0)) return;
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return;
  showNotice(messageOf(thrown), 'bad');
}

/** Shows an error in place of content that could not be fetched. */
export function showFailureIn(container: HTMLElement, thrown: unknown, retry: () => void): void {
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return;
  fill(container, h('div.empty.failure', { role: 'alert' },
    h('p', messageOf(thrown)),
    h('button', { onclick: retry }, 'Try again')));
}

/** Whether a failure stands in the container, or in a part of it, in place of content. */
export function hasFailure(container: HTMLElement): boolean {
  return container.querySelector('.failure') !== null;
}

/** The content of an empty list: what to do next, with a command to copy. */
export function emptyState(text: string, command: string | null, ...more: Child[]): HTMLElement {
  return h('div.empty',
    h('p', text), command === null ? null : codeBlock(command), ...more);
}
