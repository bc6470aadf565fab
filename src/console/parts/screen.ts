/** The contract of screens, and helpers that draw them. */
import { goToScreen, type ScreenAddress } from '../base/screen-address.ts';
import type { CallerScope } from '../base/caller-session.ts';
import { forgetForms } from './forms/unsaved-forms.ts';
import { showFailureIn } from './notice.ts';

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

/** Like `goToScreen`, after a save or a deletion, unless the user has left the screen meanwhile. */
export function goIfStillHere(container: HTMLElement, ...to: Parameters<typeof goToScreen>): void {
  if (!container.isConnected) return;
  forgetForms();
  goToScreen(...to);
}
