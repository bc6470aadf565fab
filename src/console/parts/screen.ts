/** The contract of screens, and what opens and heads them. */
import type { CallerScope } from '../base/caller-session.ts';
import { fill, h, type Child } from '../base/dom.ts';
import { goToScreen, href, type Query, type ScreenAddress } from '../base/screen-address.ts';
import { forgetForms } from './forms/unsaved-forms.ts';
import { loadingLine, showFailureIn } from './notice.ts';

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

/** Opens a screen that is drawn once, and again only when its `again` is called. */
export function openView(
  container: HTMLElement, draw: (redraw: () => Promise<void>) => Promise<void>,
): () => void {
  const show = async (): Promise<void> => {
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
  return () => {};
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

/** The title of a screen and its buttons. */
export function heading(title: string, ...actions: readonly Child[]): HTMLElement {
  return h('div.heading', h('h1', { tabindex: -1 }, title),
    h('div.actions', {}, ...actions));
}

/** A link to another screen that looks like a button. */
export function linkButton(
  text: string, path: readonly string[], { style = '', query = {} }:
  { readonly style?: string; readonly query?: Query } = {},
): HTMLElement {
  return h('a', { href: href(path, query), class: `button ${style}` }, text);
}

/** The link from a record back to its list, which is a screen or a path of one. */
export function backLink(
  list: string | readonly string[], title: string, query: Query = {},
): HTMLElement {
  return h('p.back', h('a', { href: href([list].flat(), query) }, `← ${title}`));
}

/** Like `goToScreen`, after a save or a deletion, unless the user has left the screen meanwhile. */
export function goIfStillHere(container: HTMLElement, ...to: Parameters<typeof goToScreen>): void {
  if (!container.isConnected) return;
  forgetForms();
  goToScreen(...to);
}
