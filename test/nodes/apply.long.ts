/** Applies of several nodes over one log: each is done whole or not at all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../e2e/ask.ts';
import { numberedDocument, readNumber } from '../support/numbered-document.ts';
import { createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import { withNodes, type Node } from './apps.ts';

const PATH = '/api/configuration';
const SEED = 20261127;
const ROUNDS = 12;

function apply(
  node: Node, document: object, headers: Record<string, string> = {},
): Promise<Reply> {
  return node.ask(PATH, { method: 'PUT', body: document, headers });
}

/** Waits until both nodes show the same, and returns its number. */
async function readSettled(nodes: readonly Node[]): Promise<number> {
  const tags = async (): Promise<ReadonlySet<unknown>> => new Set(
    await Promise.all(nodes.map(async (node) => (await node.ask(PATH)).headers['etag'])));
  await until('the nodes show the same', async () => (await tags()).size === 1);
  const [number = NaN, ...others] = await Promise.all(
    nodes.map(async (node) => readNumber((await node.ask(PATH)).text)));
  for (const other of others) assert.equal(other, number);
  return number;
}

test('an engine that refuses or is lost has an apply done whole or not at all', () =>
  withNodes(2, async (nodes, { engine }) => {
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    assert.equal((await apply(first, numberedDocument(0))).status, 200);
    const random = createRandom(SEED);
    const faults = ['refused', 'lost-before', 'lost-after', 'none'] as const;
    let number = 0;
    const statuses = new Set<number>();
    for (let round = 1; round <= ROUNDS; round += 1) {
      let faultsLeft = 1 + Math.floor(random() * 2);
      engine.faults = (call) => {
        if (!call.startsWith('append') || faultsLeft === 0) return 'none';
        faultsLeft -= 1;
        return faults[Math.floor(random() * faults.length)] ?? 'none';
      };
      const { status } = await apply(first, numberedDocument(round));
      statuses.add(status);
      engine.faults = () => 'none';
      await until('the engine takes writes', async () =>
        (await apply(second, { dryRun: true })).status === 200);
      const settled = await readSettled(nodes);
      if (status === 200) assert.equal(settled, round);
      assert.ok([number, round].includes(settled), `${settled} of ${number} and ${round}`);
      number = settled;
    }
    assert.ok(statuses.has(200), [...statuses].join());
  }));
