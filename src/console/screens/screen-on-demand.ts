/** Screens, and views of records, of a script that is loaded when the first of them is opened. */
import { fill, h } from '../base/dom.ts';
import { showFailureIn } from '../parts/notice.ts';
import type { Screen } from '../parts/screen.ts';

/** `load` loads the script that has the screen's `open`. */
export function screenOnDemand(
  screen: Omit<Screen, 'open'>, load: () => Promise<Screen['open']>,
): Screen {
  return {
    ...screen,
    open: (container, address) => openOnDemand(container, async () => {
      const open = await load();
      return () => open(container, address);
    }),
  };
}

/** Opens what `load` gives, unless it is closed before. Returns the function that closes it. */
export function openOnDemand(
  container: HTMLElement, load: () => Promise<() => () => void>,
): () => void {
  let close = (): void => {};
  let isClosed = false;
  const show = (): void => {
    fill(container, h('p.count', { role: 'status' }, 'Loading…'));
    load().then((open) => {
      if (isClosed) return;
      fill(container);
      close = open();
    }, (thrown: unknown) => showFailureIn(container, thrown, show));
  };
  show();
  return () => {
    isClosed = true;
    close();
  };
}
