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
import type { Edit } from '../support/changed-build.ts';
import { postgresMissing } from '../support/driver.ts';
import { LIFE_MS_MAX, longOnly } from './form.ts';
import { SCENARIOS } from './scenarios.ts';

type Plant = {
  readonly edits: readonly Edit[];
  /** What shows it. */
  readonly scenario: string;
  readonly rule: Violation['rule'];
};

/** Where the moment that matters may be missed. */
const ROUNDS_MAX = 3;
const SHOWN = 3;
const OPTIONS = { skip: longOnly || postgresMissing, timeout: LIFE_MS_MAX };

const PLANTS: Readonly<Record<string, Plant>> = {
  'acknowledge before commit': {
    edits: [['store/replication/appender.js', 'const isCommitted = await this.#link.ask(session, '
      + 'session.append(log, position, entry));',
    // Not all, or the life does not even begin.
    `if (entry.lines.includes('"title":"b')) this.#commit(pending, entry);
     const isCommitted = await this.#link.ask(session, session.append(log, position, entry));`]],
    scenario: 'a connection is cut before a commit was sent', rule: 'once',
  },
  'drop the barrier': {
    edits: [['store/replication/engine-link.js', 'const head = await this.barrier(session);',
      'const head = await this.ask(session, session.head());']],
    scenario: 'a phantom', rule: 'image',
  },
  'take a warning for success': {
    edits: [['store/engines/postgres/session.js', 'if (warning !== null)', 'if (false)']],
    scenario: 'a wait is cancelled, and a standby promoted', rule: 'image',
  },
  'lose the chain check': {
    edits: [['store/replication/chain.js',
      'if (chain === chainOf(position.chain, batch, lines))', 'if (chain !== batch + lines)']],
    scenario: 'an old backup is restored while a node is away', rule: 'image',
  },
  'tail a standby': {
    edits: [['store/engines/postgres/session.js', 'readPage(this.#parts.reader, sequence',
      `readPage({ async query(text, parameters) {
        const { default: connect } = await import('postgres');
        globalThis.tailed ??= connect(process.env.TAILED, { max: 1, fetch_types: false });
        return { rows: await globalThis.tailed.unsafe(text, parameters, { prepare: true }) };
      } }, sequence`]],
    scenario: 'a standby replays nothing', rule: 'read',
  },
  'send again without looking whether it is there': {
    edits: [
      ['store/replication/appender.js',
        'const found = await this.#link.ask(session, session.findBatch(sent.batch));',
        'const found = null;'],
      ['store/replication/appender.js',
        'missed.find(({ batch }) => batch === sent.batch)', 'undefined'],
      // The engine's session looks as well.
      ['store/engines/postgres/session.js',
        'return row !== undefined && entryOf(row).chain === entry.chain;', 'return false;'],
    ],
    scenario: 'the answer to a commit is lost', rule: 'once',
  },
  'refuse from an old image': {
    edits: [['store/replication/engine-journal.js', '? this.#fresh.catchUp()',
      '? Promise.resolve()']],
    scenario: 'a node does not hear of what another has written', rule: 'refusal',
  },
  'apply an entry twice': {
    edits: [['store/replication/applier.js', 'records.feed?.tell(sequence, told);',
      'records.feed?.tell(sequence, told), records.feed?.tell(sequence, told);']],
    scenario: 'everything is as ever', rule: 'stream',
  },
  'renew a lease late, and go on meanwhile': {
    edits: [
      ['nodes/lease-table.js',
        'return this.#sinceRenewalMs(now) < lengthMs - attemptMs - MARGIN_MS;',
        'return this.#renewal !== null;'],
      ['nodes/lease-table.js',
        'return this.#lengths.lengthMs - MARGIN_MS - this.#sinceRenewalMs(now);',
        'return 1_000_000;'],
    ],
    scenario: 'an owner is cut off until others have taken over', rule: 'delivery',
  },
};

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
