/**
 * Faults planted into the real program: a copy of it with one thing changed, in a life that shows
 * it. A checker that finds nothing here would prove nothing elsewhere.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Violation } from '../checker/history.ts';
import { PostgresRig } from '../life/engine-rigs.ts';
import { Life } from '../life/life.ts';
import { withBuild } from '../support/changed-build.ts';
import { postgresMissing } from '../support/driver.ts';
import { PLANTS } from './edits.ts';
import { LIFE_MS_MAX, longOnly } from './form.ts';
import { SCENARIOS } from './scenarios.ts';

/** Where the moment that matters may be missed. */
const ROUNDS_MAX = 3;
const SHOWN = 3;
const OPTIONS = { skip: longOnly || postgresMissing, timeout: LIFE_MS_MAX };

for (const [name, plant] of Object.entries(PLANTS)) {
  test(`found in the program: ${name}`, OPTIONS, () =>
    withBuild(plant.edits, async (program) => {
      const found = new Set<string>();
      for (let round = 1; round <= ROUNDS_MAX && !found.has(plant.rule); round += 1) {
        for (const { rule } of await brokenIn(plant.scenario, round, program)) found.add(rule);
      }
      assert.ok(found.has(plant.rule), `only these were broken: ${[...found].join(', ')}`);
    }));
}

// The promises are not broken by what happens to the program, but by the faults.
for (const name of Object.keys(SCENARIOS)) {
  test(`kept by the program as it is: ${name}`, OPTIONS, async () => {
    assert.deepEqual((await brokenIn(name, 1)).slice(0, SHOWN), []);
  });
}

async function brokenIn(
  name: string, seed: number, program?: string,
): Promise<readonly Violation[]> {
  const scenario = SCENARIOS[name];
  assert.ok(scenario !== undefined, `there is a scenario ${name}`);
  const { options, run, judge } = scenario;
  const rig = await PostgresRig.start(3);
  const life = await Life.start({ rig, seed, ...program === undefined ? {} : { program },
    ...options?.(rig) });
  try {
    await life.disturb(() => run(life, rig));
    return judge === undefined ? await life.end() : await judge(life);
  } finally {
    await life.close();
  }
}
