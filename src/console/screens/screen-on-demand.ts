/** Screens of the second script, which is loaded when the first of them is opened. */
import { fill, h } from '../base/dom.ts';
import { showFailureIn } from '../parts/notice.ts';
import type { Screen } from '../parts/screen.ts';
import { loadSecondScript, type SecondScript } from './second-script-loader.ts';

/** The screen of that name in `openers`. */
export function screenOnDemand(
  screen: Omit<Screen, 'open'> & { readonly name: keyof SecondScript['openers'] },
): Screen {
  return {
    ...screen,
    open(container, address) {
      let close = (): void => {};
      let isClosed = false;
      const show = (): void => {
        fill(container, h('p.count', { role: 'status' }, 'Loading…'));
        loadSecondScript().then(({ openers }) => {
          if (isClosed) return;
          fill(container);
          close = openers[screen.name](container, address);
        }, (thrown: unknown) => showFailureIn(container, thrown, show));
      };
      show();
      return () => {
        isClosed = true;
        close();
      };
    },
  };
}
