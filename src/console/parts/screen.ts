/** The contract of screens, and what opens, heads and refreshes them. */
import { callerSession, type CallerScope, type CustomerScope } from '../base/caller-session.ts';
import { fill, h, refill, type Child } from '../base/dom.ts';
import {
  goToScreen, href, parseAddress, recallQuery, type Query, type ScreenAddress,
} from '../base/screen-address.ts';
import { forgetForms } from './forms/unsaved-forms.ts';
import {
  emptyState, hasFailure, loadingLine, showFailureIn, showFailureNotice,
} from './notice.ts';

const REFRESH_MS = 10_000;

export type Screen = {
  /** The first step of its address. */
  readonly name: string;
  readonly title: string;
  /** `g`, then this letter, opens it. */
  readonly key: string;
  /** Hidden from callers without this scope. */
  readonly scope?: CallerScope;
  /** Draws the screen in an empty container; the returned function ends timers and streams. */
  readonly open: (container: HTMLElement, address: ScreenAddress) => () => void;
};

/** Says in place of a screen why it is not shown; `list` is a screen to go on from. */
export function showNotHere(
  container: HTMLElement, text: string, list = 'overview',
): () => void {
  fill(container, heading('Not here'), emptyState(text, null, backLink(list, `To the ${
    list === 'overview' ? list : 'list'}`)));
  return () => {};
}

/**
 * Opens a form whose change takes `scope`, of a customer `customerScope`; who has less reads so,
 * and types nothing in vain.
 */
export function openForm(
  container: HTMLElement, scope: CallerScope, change: string,
  open: (container: HTMLElement) => () => void, customerScope: CustomerScope | null = null,
): () => void {
  const { access, isCustomer } = callerSession;
  return callerSession.may(scope, customerScope) ? open(container) : showNotHere(container,
    `This token may not ${change}: that takes the scope ${
      isCustomer && customerScope !== null ? customerScope : scope}; it has ${access.scope}.`,
    parseAddress().path[0]);
}

/** Opens a screen that is drawn once, and again only when `redraw` is called while it is open. */
export function openView(
  container: HTMLElement, draw: (redraw: () => Promise<void>) => Promise<void>,
): () => void {
  let isClosed = false;
  const show = async (): Promise<void> => {
    // What the user has left is not read for an answer that comes late.
    if (isClosed) return;
    const hadFocus = container.contains(document.activeElement);
    try {
      await draw(show);
    } catch (thrown) {
      showFailureIn(container, thrown, () => void show());
    }
    if (!hadFocus || document.activeElement !== document.body) return;
    container.querySelector('h1')?.focus({ preventScroll: true });
  };
  void show();
  return () => {
    isClosed = true;
  };
}

/**
 * Opens what `load` gives with `options`, unless it is closed before. Returns the function that
 * closes it.
 */
export function openOnDemand<Options extends readonly unknown[]>(
  container: HTMLElement,
  load: () => Promise<(container: HTMLElement, ...options: Options) => () => void>,
  ...options: Options
): () => void {
  let close = (): void => {};
  let isClosed = false;
  const show = (): void => {
    fill(container, loadingLine());
    load().then((open) => {
      if (isClosed) return;
      fill(container);
      close = open(container, ...options);
    }, (thrown: unknown) => showFailureIn(container, thrown, show));
  };
  show();
  return () => {
    isClosed = true;
    close();
  };
}

export function heading(title: string, ...actions: readonly Child[]): HTMLElement {
  return h('div.heading', h('h1', { tabindex: -1 }, title),
    h('div.actions', {}, ...actions));
}

export function linkButton(
  text: string, path: readonly string[], { style = '', query = {} }:
  { readonly style?: string; readonly query?: Query } = {},
): HTMLElement {
  return h('a', { href: href(path, query), class: `button ${style}` }, text);
}

/**
 * The link from a record back to its list, which is a screen or a path of one: by default with the
 * filters that it had when it was left.
 */
export function backLink(
  list: string | readonly string[], title: string, query: Query = recallQuery([list].flat()),
): HTMLElement {
  return h('p.back', h('a', { href: href([list].flat(), query) }, `← ${title}`));
}

/** After a deletion: goes to the list, with the filters that it had when it was left. */
export function goToList(container: HTMLElement, screen: string): void {
  goIfStillHere(container, [screen], recallQuery([screen]));
}

/** Like `goToScreen`, after a save or a deletion, unless the user has left the screen meanwhile. */
export function goIfStillHere(container: HTMLElement, ...to: Parameters<typeof goToScreen>): void {
  if (!container.isConnected) return;
  forgetForms();
  goToScreen(...to);
}

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
  let readCount = 0;
  /** The number of the read whose result is shown; 0: none is. */
  let shownRead = 0;
  const readAndShow = async (): Promise<void> => {
    readCount += 1;
    const number = readCount;
    try {
      const children = await read();
      if (children === null || number < shownRead) return;
      shownRead = number;
      refill(content, ...children);
    } catch (thrown) {
      // Older content is better than nothing.
      if (shownRead > 0) tellFailure(thrown);
      else if (!hasFailure(content)) showFailureIn(content, thrown, show);
    }
    content.removeAttribute('aria-busy');
  };
  const show = (): void => void readAndShow();
  show();
  return { show, close: repeatWhileSeen(show) };
}
