/**
 * Faults planted into the real program: a copy of it with one thing changed, in a life that shows
 * it. A checker that finds nothing here would prove nothing elsewhere.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';
import type { Violation } from '../checker/history.ts';
import { PostgresRig } from '../life/engine-rigs.ts';
import { Life } from '../life/life.ts';
import { postgresMissing } from '../support/driver.ts';
import { LIFE_MS_MAX, longOnly } from './form.ts';
import { NODE_FAULTS } from './node-faults.ts';
import { POSTGRES_FAULTS } from './postgres-faults.ts';
import type { Fault } from './node-faults.ts';

type Plant = {
  /** A file of the built program, and what stands there once, with what takes its place. */
  readonly edits: readonly (readonly [file: string, from: string, to: string])[];
  /** What shows it. */
  readonly fault: Fault<PostgresRig>;
  readonly rule: Violation['rule'];
};

const DIST = resolve(import.meta.dirname, '../../../dist');
/** Below node_modules, so that the copy finds the driver. */
const CACHE = resolve(DIST, '../node_modules/.cache');
const ROUNDS_MAX = 3;
const OPTIONS = { skip: longOnly || postgresMissing, timeout: LIFE_MS_MAX };
const SOUND_S = 30;
/** Where an entry is made under the engine's lock. */
const LOCKED = 'pending.sent = entry;\n        return entry;';
/** Longer than a lease. */
const CUT_MS = 45_000;

const PLANTS: Readonly<Record<string, Plant>> = {
  'acknowledge before commit': {
    edits: [
      ['store/replication/appender.js',
        'const isCommitted = await this.#link.ask(session, session.append(log, position, entry));',
        // Not at once, or the life does not even begin.
        `const isEarly = process.uptime() > ${SOUND_S};
         const answer = session.append(log, position, entry);
         if (isEarly) answer.catch(() => {});
         const isCommitted = isEarly || await this.#link.ask(session, answer);`],
      ['store/replication/appender.js', LOCKED,
        `if (entry !== null && process.uptime() > ${SOUND_S}) this.#commit(pending, entry);
         ${LOCKED}`],
    ],
    fault: async (life, rig) => {
      await delay(SOUND_S * 1000);
      await faultNamed(POSTGRES_FAULTS, 'a phantom')(life, rig);
    },
    rule: 'image',
  },
  'drop the barrier': {
    edits: [['store/replication/engine-link.js', 'const head = await this.barrier(session);',
      'const head = await this.ask(session, session.head());']],
    fault: (life, rig) => faultNamed(POSTGRES_FAULTS, 'a phantom')(life, rig), rule: 'image',
  },
  'send again without looking whether it is there': {
    edits: [
      ['store/replication/appender.js',
        'const found = await this.#link.ask(session, session.findBatch(sent.batch));',
        'const found = null;'],
      ['store/replication/appender.js',
        'missed.find(({ batch }) => batch === sent.batch)', 'undefined'],
    ],
    fault: (life, rig) => faultNamed(NODE_FAULTS, 'connections are cut before')(life, rig),
    rule: 'once',
  },
  'refuse from an old image': {
    edits: [['store/replication/engine-journal.js', ': this.#fresh.catchUp()',
      ': Promise.resolve()']],
    fault: (life) => life.progress(300), rule: 'refusal',
  },
  'tell what was applied twice': {
    edits: [['store/replication/applier.js', 'records.feed?.tell(sequence, told);',
      'records.feed?.tell(sequence, told), records.feed?.tell(sequence, told);']],
    fault: (life) => life.progress(100), rule: 'stream',
  },
  'begin attempts on a lease that has ended': {
    edits: [
      ['nodes/lease-table.js',
        'return this.#sinceRenewalMs(now) < lengthMs - attemptMs - MARGIN_MS;',
        'return this.#renewal !== null;'],
      ['nodes/lease-table.js',
        'return this.#lengths.lengthMs - MARGIN_MS - this.#sinceRenewalMs(now);',
        'return 1_000_000;'],
    ],
    fault: cutOffOwner, rule: 'delivery',
  },
};

for (const [name, plant] of Object.entries(PLANTS)) {
  test(`found in the program: ${name}`, OPTIONS, async () => {
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(join(CACHE, 'planted-'));
    try {
      cpSync(DIST, join(folder, 'dist'), { recursive: true });
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      for (const [file, from, to] of plant.edits) edit(join(folder, 'dist', file), from, to);
      const found = new Set<string>();
      for (let round = 1; round <= ROUNDS_MAX && !found.has(plant.rule); round += 1) {
        for (const rule of await brokenIn(join(folder, 'dist/main.js'), plant, round)) {
          found.add(rule);
        }
      }
      assert.ok(found.has(plant.rule), `only these were broken: ${[...found].join(', ')}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

async function brokenIn(program: string, { fault }: Plant, seed: number): Promise<string[]> {
  const rig = await PostgresRig.start(3);
  const life = await Life.start({ rig, seed, program });
  try {
    await life.progress(60);
    await life.disturb(async () => {
      await fault(life, rig);
    });
    await life.progress(60);
    return (await life.end()).map(({ rule }) => rule);
  } finally {
    await life.close();
  }
}

/** Its deliveries go on failing, so that it has something to begin all the time. */
async function cutOffOwner(life: Life): Promise<void> {
  const { receiver } = life;
  receiver.slowMs = 1500;
  receiver.isFailing = true;
  await life.progress(80);
  const proxies = life.rig.proxies(0);
  for (const proxy of proxies) proxy.hold('toServer', 'toClient');
  await delay(CUT_MS);
  for (const proxy of proxies) proxy.heal();
  receiver.slowMs = 20;
  receiver.isFailing = false;
}

function faultNamed<Rig>(
  faults: Readonly<Record<string, Fault<Rig>>>, begin: string,
): Fault<Rig> {
  const found = Object.entries(faults).find(([name]) => name.startsWith(begin));
  assert.ok(found !== undefined, `there is a fault ${begin}`);
  return found[1];
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  assert.equal(text.split(from).length, 2, `${path} holds this once: ${from}`);
  writeFileSync(path, text.replace(from, () => to));
}
