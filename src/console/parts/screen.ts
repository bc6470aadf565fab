/** What a screen is. */
import { go } from '../base/address.ts';
import type { ScreenAddress } from '../base/address.ts';
import type { CallerScope } from '../base/session.ts';
import { showFailure } from './notice.ts';

export type Screen = {
  /** The first step of its address. */
  readonly name: string;
  readonly title: string;
  /** `g`, then this letter, opens it. */
  readonly key: string;
  /** Who may not do this is not shown it. */
  readonly scope?: CallerScope;
  /** Shows it in an empty place; what it returns ends timers and streams. */
  readonly open: (place: HTMLElement, address: ScreenAddress) => () => void;
};

/** For screens that are drawn when they are opened, and when `again` is called. */
export function openView(
  place: HTMLElement, draw: (again: () => Promise<void>) => Promise<void>,
): () => void {
  const show = async (): Promise<void> => {
    const hadFocus = place.contains(document.activeElement);
    try {
      await draw(show);
    } catch (thrown) {
      showFailure(place, thrown, () => void show());
    }
    if (!hadFocus || document.activeElement !== document.body) return;
    place.querySelector('h1')?.focus({ preventScroll: true });
  };
  void show();
  return () => {};
}

/** As `go`, for whoever has not gone elsewhere meanwhile. */
export function goFrom(place: HTMLElement, ...to: Parameters<typeof go>): void {
  if (place.isConnected) go(...to);
}
