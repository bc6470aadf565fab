import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Store } from '../../src/store/store-port.ts';
import { about } from '../support/crashes.ts';
import { FAULTS } from '../support/faults.ts';
import { IS_LONG } from '../support/long.ts';
import { openOn, openWith, type OpenStore } from '../support/open-store.ts';
import { below, createRandom, type Random } from '../support/random.ts';
import { Disk, type Survival } from '../support/simulated-disk.ts';
import { SimulatedFiles, type Call, type Fault } from '../support/simulated-files.ts';
import {
  checkHolds, createSteps, heldSteps, isRefusedBy, runSteps, type Outcome, type Step,
} from '../support/workload.ts';

// More of them for a long run: HOOKSHELF_SIMULATION_SEEDS=1000-2000.
const SEEDS = process.env.HOOKSHELF_SIMULATION_SEEDS ?? (IS_LONG ? '0-600' : '0-40');
const [FIRST = 0, LAST = 0] = SEEDS.split('-').map(Number);
const LIVES = 6;

/** Makes calls fail at random, none at all in every other life. */
function drawFaults(random: Random): (call: Call) => Fault | null {
  const share = random() < 0.5 ? 0 : random() * 0.05;
  return ({ kind }) => {
    const faults = FAULTS[kind];
    return random() < share ? faults[below(random, faults.length)] ?? null : null;
  };
}

/** Nothing here damages what is on disk, so no start may say so; one whose calls fail may fail. */
async function start(files: SimulatedFiles): Promise<OpenStore | null> {
  try {
    return await openWith(files);
  } catch (error) {
    assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error));
    assert.ok(!(error instanceof AppError && error.code === 'damaged'), String(error));
    return null;
  }
}

function drawSurvival(random: Random): Survival {
  if (random() < 0.3) return { kind: 'kept' };
  if (random() < 0.2) return { kind: 'dropped' };
  return { kind: 'random', seed: below(random, 1e9), pageBytes: 1 << (4 + below(random, 6)) };
}

/** Some traffic, with compactions beside it. */
async function live(random: Random, opened: OpenStore, prefix: string): Promise<Outcome[]> {
  const { store, files, clock } = opened;
  clock.tickMs = below(random, 3);
  files.turnsOf = () => 1 + below(random, 4);
  const outcomes: Outcome[] = [];
  const compactions: Promise<unknown>[] = [];
  for (let part = 0; part < 1 + below(random, 4); part++) {
    if (random() < 0.5) {
      compactions.push(store.compact().catch((error: unknown) =>
        assert.ok(error instanceof AppError, String(error))));
    }
    const steps = createSteps(below(random, 1e9), below(random, 12), `${prefix}-${part}-`);
    outcomes.push(...await runSteps(store, steps, 1 + below(random, 6),
      () => files.history.length));
    if (random() < 0.3) await clock.advance(below(random, 3000));
  }
  await Promise.all(compactions);
  if (random() < 0.3) await store.close();
  return outcomes;
}

/** The disk after a crash at a random moment of a life, and that moment. */
function crash(random: Random, files: SimulatedFiles): { disk: Disk; index: number } {
  const index = below(random, files.history.length + 1);
  const disk = files.initial.clone();
  files.history.slice(0, index).forEach((operation, at) => disk.apply(operation, at));
  const next = files.history[index];
  if (next?.kind === 'write' && random() < 0.5) {
    const bytes = next.bytes.subarray(0, below(random, next.bytes.length));
    disk.apply({ ...next, bytes }, index);
  }
  return { disk: disk.crash(drawSurvival(random)), index };
}

/** What has been shown stays; what was not there when the rest was shown never comes back. */
function settle(store: Store, known: readonly Outcome[]): Outcome[] {
  const held = new Set(heldSteps(checkHolds(store, known, 0)));
  return known.filter(({ step }) => held.has(step.name)).map(({ step }) => required(step));
}

function required(step: Step): Outcome {
  return { step, seenAt: -1, error: null };
}

/** What a crash at operation `index` makes of what was going on. */
function afterCrash(outcomes: readonly Outcome[], index: number): Outcome[] {
  return outcomes.flatMap(({ step, seenAt, error }) => {
    if (isRefusedBy(error, seenAt <= index)) return [];
    if (error === null && seenAt <= index) return [required(step)];
    return [{ step, seenAt: Infinity, error: null }];
  });
}

/** How much of what the test is about came to pass. */
type Seen = { acknowledged: number; refused: number; failedStarts: number; lost: number };

async function runLives(seed: number, seen: Seen): Promise<void> {
  const random = createRandom(seed);
  let disk = new Disk();
  let known: Outcome[] = [];
  for (let number = 0; number < LIVES; number++) {
    const files = new SimulatedFiles(disk);
    files.onCall = drawFaults(random);
    const opened = await start(files);
    const openedAt = files.history.length;
    const settled = opened === null ? [] : settle(opened.store, known);
    const outcomes = opened === null ? [] : await live(random, opened, `l${number}`);
    if (opened === null) seen.failedStarts += 1;
    for (const { error } of outcomes) seen[error === null ? 'acknowledged' : 'refused'] += 1;
    const crashed = crash(random, files);
    await opened?.store.close().catch(() => undefined);
    if (opened !== null && crashed.index >= openedAt) {
      const left = afterCrash(outcomes, crashed.index);
      seen.lost += left.filter(({ seenAt }) => seenAt === Infinity).length;
      known = [...settled, ...left];
    }
    ({ disk } = crashed);
  }
  const { store } = await openOn(disk);
  settle(store, known);
  await store.close();
}

test('a store that lives through faults and crashes, many times over, keeps its word', async () => {
  const seen: Seen = { acknowledged: 0, refused: 0, failedStarts: 0, lost: 0 };
  for (let seed = FIRST; seed < LAST; seed++) {
    await about(`seed ${seed}`, () => runLives(seed, seen));
  }
  const seeds = LAST - FIRST;
  const told = JSON.stringify(seen);
  assert.ok(seeds > 0 && seen.acknowledged > 20 * seeds && seen.refused > 2 * seeds, told);
  assert.ok(seen.lost > 2 * seeds && (seen.failedStarts > 0 || seeds < 50), told);
});
