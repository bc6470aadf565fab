/** What is asked of a node of the model, and what it stands on. */
import type { Random } from '../../support/random.ts';
import type { Outcome, Refusal } from '../checker/history.ts';
import type { Bug } from './bugs.ts';
import type { Change, EngineModel } from './engine.ts';
import type { ImageModel } from './image.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type Answer = {
  readonly outcome: Outcome;
  readonly refusal: Refusal | null;
  readonly sequence: number | null;
};

/** A transaction: from the state to what it changes, or to why not. It may run again. */
export type Prepare = (image: ImageModel) => Change | Refusal;
export type Request = { readonly prepare: Prepare; readonly settle: (answer: Answer) => void };
export type Passed = { readonly request: Request; readonly change: Change };
export type Refused = { readonly request: Request; readonly refusal: Refusal };
export type Staged = { readonly passed: readonly Passed[]; readonly refused: readonly Refused[] };

export type World = {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly engine: EngineModel;
  readonly bug: Bug | null;
};
