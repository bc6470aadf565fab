/** Waiting that goes by turns of the event loop, so that no clock decides a test. */
import type { Steps } from '../../src/base/turns.ts';
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// Only so that a test that waits for ever ends.
const WAIT_MS_MAX = 60_000;
const CALM_TURNS = 200;

export async function someTurns(count = CALM_TURNS): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

export async function turnsUntil(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  while (!isTrue()) {
    assert(performance.now() < deadlineMs, 'waited too long');
    await someTurns(1);
  }
}

/** Awaits what must end in some turns of the event loop. */
export async function endsInTurns(work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const ending = work.then(() => {
    hasEnded = true;
  });
  await someTurns();
  assert(hasEnded, 'it has not ended');
  await ending;
}

/** Resolves when `read` has given the same for many turns. */
export async function settled(read: () => unknown): Promise<void> {
  let calm = 0;
  let last = read();
  await turnsUntil(() => {
    const now = read();
    calm = now === last ? calm + 1 : 0;
    last = now;
    return calm >= CALM_TURNS;
  });
}

/** The connection of the answer, once its reader's side takes no more of it. */
export async function stalled(read: () => ServerResponse | null): Promise<Socket> {
  const left = (): number => read()?.socket?.writableLength ?? 0;
  await turnsUntil(() => left() > 0);
  await settled(() => left());
  const socket = read()?.socket ?? null;
  assert(socket !== null && left() > 0, 'the answer stalled');
  return socket;
}

/** The result of steps that are taken to their end; `between` runs before each but the first. */
export function runAll<T>(steps: Steps<T>, between: () => void = () => {}): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    between();
  }
}
