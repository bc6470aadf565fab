/** What a screen is. */
import type { ScreenAddress } from '../base/address.ts';
import type { CallerScope } from '../base/session.ts';

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

/** For screens with nothing to end. */
export function nothing(): void {}
