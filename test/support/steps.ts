/** Takes the steps of a work to its end; `between` is called before each but the first. */
import type { Steps } from '../../src/base/turns.ts';

export function finishSteps<T>(steps: Steps<T>, between: () => void = () => {}): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    between();
  }
}
