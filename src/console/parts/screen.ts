/** What a screen is. */
import { goToScreen } from '../base/screen-address.ts';
import type { ScreenAddress } from '../base/screen-address.ts';
import type { CallerScope } from '../base/caller-session.ts';
import { showFailureIn } from './notice.ts';

export type Screen = {
  /** The first step of its address. */
  readonly name: string;
  readonly title: string;
  /** `g`, then this letter, opens it. */
  readonly key: string;
  /** Who may not do this is not shown it. */
  readonly scope?: CallerScope;
  /** Shows it in an empty place; what it returns ends timers and streams. */
  readonly open: (container: HTMLElement, address: ScreenAddress) => () => void;
};

/** For screens that are drawn when they are opened, and when `again` is called. */
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

/** As `go`, for whoever has not gone elsewhere meanwhile. */
export function goIfStillHere(container: HTMLElement, ...to: Parameters<typeof goToScreen>): void {
  if (container.isConnected) goToScreen(...to);
}
