/** Content that is read anew every ten seconds while the page is seen. */
import { refill, type Child } from '../base/dom.ts';
import { hasFailure, showFailureIn, showFailureNotice } from './notice.ts';

const REFRESH_MS = 10_000;

/** Calls `refresh` every ten seconds while the page is seen, until the result is called. */
export function repeatWhileSeen(refresh: () => void): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) refresh();
  }, REFRESH_MS);
  return () => clearInterval(timer);
}

/**
 * Fills `content` with what `read` resolves with, and keeps that current until it is closed. null:
 * the user has chosen something else meanwhile, which another call shows. A failure that comes when
 * there is content is told by `tellFailure`.
 */
export function keepCurrent(
  content: HTMLElement, read: () => Promise<readonly Child[] | null>,
  tellFailure: (thrown: unknown) => void = showFailureNotice,
): { readonly show: () => void; readonly close: () => void } {
  let isRendered = false;
  const readAndShow = async (): Promise<void> => {
    try {
      const children = await read();
      if (children === null) return;
      isRendered = true;
      refill(content, ...children);
    } catch (thrown) {
      // What was shown before is better than nothing.
      if (isRendered) tellFailure(thrown);
      else if (!hasFailure(content)) showFailureIn(content, thrown, show);
    }
    content.removeAttribute('aria-busy');
  };
  const show = (): void => void readAndShow();
  show();
  return { show, close: repeatWhileSeen(show) };
}
