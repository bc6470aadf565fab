/** The short form runs some of the faults in one life, one after another, and leaves others out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineRig } from '../life/engine-rigs.ts';
import { Life } from '../life/life.ts';
import type { LifeOptions } from '../life/life.ts';

export const isShort = process.env.NODES_FORM !== 'long';

/** Why a test is left out of the short form; false in the long one. */
export const longOnly: string | false =
  isShort ? 'only in the long form, npm run test:nodes' : false;

export const LIFE_MS_MAX = isShort ? 300_000 : 600_000;
const WRITES = 60;
/** Of each rule that is broken. */
const SHOWN = 3;
const LINES_SHOWN = 40;

export async function withLife(
  options: LifeOptions, use: (life: Life) => Promise<void>,
): Promise<void> {
  const life = await Life.start(options);
  try {
    await use(life);
    const found = await life.end();
    const rules = [...new Set(found.map(({ rule }) => rule))];
    const shown = rules.flatMap((rule) =>
      found.filter((violation) => violation.rule === rule).slice(0, SHOWN));
    assert.deepEqual(shown, [], `${found.length} promises were broken: ${rules.join(', ')}`);
  } catch (error) {
    for (const { name, log } of life.shelves) console.log(`== ${name}\n${telling(log)}`);
    throw error;
  } finally {
    await life.close();
  }
}

/** The last lines of a log, without those of each attempt. */
function telling(log: string): string {
  return log.split('\n').filter((line) => !line.includes('a delivery was attempted'))
    .slice(-LINES_SHOWN).join('\n');
}

type Suite<Rig extends EngineRig> = {
  readonly engine: string;
  readonly skip: string | false;
  readonly start: () => Promise<Rig>;
  readonly faults: Readonly<Record<string, (life: Life, rig: Rig) => Promise<unknown>>>;
  /** Of the faults, those of the short form. */
  readonly short: readonly string[];
};

/** A life for each fault; in the short form one life for those that it has. */
export function testFaults<Rig extends EngineRig>(suite: Suite<Rig>): void {
  const { engine, skip, start, faults, short } = suite;
  const all = Object.entries(faults);
  const chosen = isShort ? [all.filter(([name]) => short.includes(name))] : all.map((one) => [one]);
  chosen.forEach((some, index) => {
    const names = some.map(([name]) => name);
    const title = `${engine}: ${names.join('; ')}`;
    test(title, { skip, timeout: LIFE_MS_MAX }, async (context) => {
      const rig = await start();
      await withLife({ rig, seed: index + 1 }, async (life) => {
        for (const [name, fault] of some) {
          await life.progress(WRITES);
          const beginMs = performance.now();
          await life.disturb(async () => {
            await fault(life, rig);
          });
          context.diagnostic(`${name}: ${((performance.now() - beginMs) / 1000).toFixed(1)} s`);
        }
        await life.progress(WRITES);
      });
    });
  });
}
