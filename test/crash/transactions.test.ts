import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Transaction } from '../../src/store/store-port.ts';
import { openOn, type OpenStore } from '../support/open-store.ts';
import { below, createRandom, type Random } from '../support/random.ts';
import { Disk } from '../support/simulated-disk.ts';

type Hook = { readonly identifier: string; readonly slug: string; readonly text: string };
type Hooks = ReadonlyMap<string, Hook>;

const KEYS = 5;
const SLUGS = 4;

/** What a transaction does, drawn before it runs. */
type Action =
  | { readonly kind: 'put'; readonly hook: Hook }
  | { readonly kind: 'delete' | 'find'; readonly identifier: string }
  | { readonly kind: 'refuse' };

function drawActions(random: Random, name: string): Action[] {
  return Array.from({ length: 1 + below(random, 4) }, (_, index): Action => {
    const identifier = `h${below(random, KEYS)}`;
    const slug = `s${below(random, SLUGS)}`;
    const draw = random();
    if (draw < 0.5) return { kind: 'put', hook: { identifier, slug, text: `${name}.${index}` } };
    if (draw < 0.65) return { kind: 'delete', identifier };
    if (draw < 0.95) return { kind: 'find', identifier };
    return { kind: 'refuse' };
  });
}

/** One after the other, on a map: what was seen, or the code of the refusal. */
function runOnModel(hooks: Hooks, actions: readonly Action[]): { after: Hooks; seen: string } {
  const after = new Map(hooks);
  const holderOf = (slug: string): Hook | undefined =>
    [...after.values()].find((hook) => hook.slug === slug);
  const seen: string[] = [];
  for (const action of actions) {
    if (action.kind === 'refuse') return { after: hooks, seen: 'precondition_failed' };
    if (action.kind === 'put') {
      const holder = holderOf(action.hook.slug);
      const isTaken = holder !== undefined && holder.identifier !== action.hook.identifier;
      if (isTaken) return { after: hooks, seen: 'conflict' };
      after.set(action.hook.identifier, action.hook);
    } else if (action.kind === 'delete') {
      seen.push(String(after.delete(action.identifier)));
    } else {
      const found = after.get(action.identifier);
      seen.push(found === undefined ? 'none' : JSON.stringify(found));
    }
  }
  return { after, seen: seen.join() };
}

function runOnStore(transaction: Transaction, actions: readonly Action[]): string {
  const seen: string[] = [];
  for (const action of actions) {
    if (action.kind === 'refuse') throw new AppError('precondition_failed', 'refused');
    if (action.kind === 'put') {
      transaction.put('hooks', action.hook.identifier, JSON.stringify(action.hook));
    } else if (action.kind === 'delete') {
      seen.push(String(transaction.delete('hooks', action.identifier)));
    } else {
      const found = transaction.find('hooks', action.identifier);
      seen.push(found?.toString() ?? 'none');
    }
  }
  return seen.join();
}

/** How many of the transactions were refused. */
async function runRace(seed: number, { store, files, clock }: OpenStore): Promise<number> {
  const random = createRandom(seed);
  clock.tickMs = seed % 3;
  files.turnsOf = () => 1 + below(random, 3);
  let hooks: Hooks = new Map();
  let refused = 0;
  const racing: Promise<void>[] = [];
  for (let index = 0; index < 60; index++) {
    const actions = drawActions(random, `${seed}.${index}`);
    const { after, seen } = runOnModel(hooks, actions);
    hooks = after;
    if (seen === 'conflict' || seen === 'precondition_failed') refused += 1;
    const result = store.transact((transaction) => runOnStore(transaction, actions))
      .catch((error: unknown) => error instanceof AppError ? error.code : String(error));
    racing.push(result.then((actual) => assert.equal(actual, seen, JSON.stringify(actions))));
    for (let turn = below(random, 4); turn > 1; turn--) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
  }
  await Promise.all(racing);
  const collection = store.collection('hooks');
  assert.equal(collection.size, hooks.size);
  for (const [identifier, hook] of hooks) {
    assert.equal(collection.find(identifier)?.bytes.toString(), JSON.stringify(hook));
  }
  for (let slug = 0; slug < SLUGS; slug++) {
    const isHeld = [...hooks.values()].some((hook) => hook.slug === `s${slug}`);
    const taken = store.transact((transaction) =>
      transaction.put('hooks', `new-${slug}`, `{"identifier":"new-${slug}","slug":"s${slug}"}`));
    if (isHeld) await assert.rejects(taken, { code: 'conflict' });
    else await taken;
  }
  return refused;
}

test('transactions that race see and refuse exactly what they would one after the other',
  async () => {
    let refused = 0;
    for (let seed = 0; seed < 60; seed++) {
      const opened = await openOn(new Disk());
      refused += await runRace(seed, opened);
      await opened.store.close();
    }
    assert.ok(refused > 600 && refused < 3000, `${refused} of 3600 were refused`);
  });
