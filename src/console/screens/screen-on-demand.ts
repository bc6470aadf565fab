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
    open: (container, address) => openOnDemand(container, load, address),
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
    fill(container, h('p.count', { role: 'status' }, 'Loading…'));
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
