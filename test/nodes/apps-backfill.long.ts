/** Backfills over several nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { NodeView } from '../../src/nodes/node-routes.ts';
import { until } from '../support/until.ts';
import { withNodes, type Apps, type Node } from './apps.ts';

const EVER = '2026-01-01T00:00:00Z';
const HOOKS = '/api/outgoing-webhooks';
const ROUNDS = 5;
/** Of the loop: a request is answered in far fewer. */
const SLOW_TURNS = 3000;
/** Of this size, so that a transaction of a job takes some ten of them. */
const EVENTS = 30;
const FILLER = 'x'.repeat(50_000);
/** Webhooks beside the one that is backfilled. */
const PASSING = 12;
const WAIT_MS_MAX = 60_000;

const post = (node: Node, path: string, body: object): ReturnType<Node['ask']> =>
  node.ask(path, { method: 'POST', body });

/** Adds a webhook that hears things, and returns its identifier. */
async function addHook(node: Node, targetUrl: string, members: object = {}): Promise<string> {
  const added = await post(node, HOOKS,
    { targetUrl, triggerEvent: 'thing.*', secret: 'a secret of the tests', ...members });
  assert.equal(added.status, 201, added.text);
  return JSON.parse(added.text).identifier;
}

const emit = (node: Node, n: number): ReturnType<Node['ask']> =>
  post(node, '/api/events', { name: 'thing.happened', payload: { n, FILLER } });

/** Emits an event at a node whose writes may fail together with those of its job. */
async function emitAnyhow(node: Node, name: string, payload: object): Promise<void> {
  await until('the event is taken', async () =>
    (await post(node, '/api/events', { name, payload })).status === 202, { msMax: WAIT_MS_MAX });
}

async function countDeliveries(node: Node, hook: string, filter = ''): Promise<number> {
  const { headers } = await node.ask(`/api/deliveries?hook=${hook}&limit=1${filter}`);
  return Number(headers['x-total-count']);
}

async function untilEnded(node: Node): Promise<void> {
  await until('no job runs', async () =>
    !(await node.ask('/api/jobs')).text.includes('"status":"running"'));
}

/** Resolves when the node has read all requests that were sent to it before. */
async function untilRead(node: Node): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await node.ask('/api/books?limit=1');
}

test('a backfill finds an event that was on its way to the disk when its webhook was made', () =>
  withNodes(1, async ([node], apps) => {
    assert.ok(node !== undefined);
    const { engine } = apps;
    const target = await apps.target(() => {});
    await addHook(node, target);
    engine.stopReplicating();
    const { length } = engine.entries;
    const made = addHook(node, target);
    await until('the webhook is on its way', () => engine.entries.length > length);
    const emitted = emit(node, 1);
    await untilRead(node);
    engine.goOnReplicating();
    engine.stopReplicating();
    const hook = await made;
    const backfilled = post(node, `${HOOKS}/${hook}/backfill`, { since: EVER });
    await untilRead(node);
    engine.goOnReplicating();
    assert.equal((await backfilled).status, 202);
    assert.equal((await emitted).status, 202);
    await untilEnded(node);
    assert.equal(await countDeliveries(node, hook), 1);
  }));

test('a webhook that another node has just added can be backfilled and sent to at once', () =>
  withNodes(2, async ([first, second], apps) => {
    assert.ok(first !== undefined && second !== undefined);
    const target = await apps.target(() => {});
    // A node takes long to read what the other has written.
    const { engine } = apps;
    let last = '';
    engine.faults = (call) => {
      last = call;
      return 'none';
    };
    engine.turns = () => last === 'readAfter' ? SLOW_TURNS : 1;
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `hook-${round}`;
      await addHook(first, target, { name });
      const sent = post(second, `${HOOKS}/${name}/deliveries`, { payload: {} });
      const counted =
        await post(second, `${HOOKS}/${name}/backfill`, { since: EVER, dryRun: true });
      assert.equal(counted.status, 200, counted.text);
      assert.equal((await sent).status, 202);
    }
    const missing = await post(second, `${HOOKS}/none/backfill`, { since: EVER });
    assert.equal(missing.status, 404);
  }));

/** The place of a backfill that is stopped in its midst: its first chunk is done. */
type StoppedBackfill = {
  readonly hook: string;
  /** The numbers of the events that it has missed, in their order; of how many it was told. */
  readonly missed: readonly number[];
  readonly done: number;
  readonly arrived: readonly number[];
  /** Resolves when a new event has come to webhooks of most shards. */
  untilPassed(node: Node): Promise<void>;
  /** Lets the job go on. */
  goOn(): void;
};

async function stopInMidst([first, ...others]: readonly Node[], apps: Apps):
Promise<StoppedBackfill> {
  assert.ok(first !== undefined);
  const nodes = [first, ...others];
  await addHook(first, await apps.target(() => {}));
  const passed = new Map<string, number>();
  const counter = await apps.target((_, body) =>
    void passed.set(body, (passed.get(body) ?? 0) + 1));
  for (let index = 0; index < PASSING; index += 1) {
    await addHook(first, counter, { triggerEvent: 'pass', payloadTemplate: `"hook ${index}"` });
  }
  const emitted = await Promise.all(range(EVENTS).map(async (n) => {
    const { text } = await emit(nodes[n % nodes.length] ?? first, n);
    return { n, id: String(JSON.parse(text).event) };
  }));
  emitted.sort((left, right) => left.id < right.id ? -1 : 1);
  const arrived: number[] = [];
  const targetUrl = await apps.target((_, body) => void arrived.push(JSON.parse(body).n));
  const hook = await addHook(first, targetUrl, { maxInFlight: 1 });
  let chunks = 0;
  apps.engine.refuse = ({ lines }) => {
    if (!/"kind":"backfill".*"done":[1-9]/.test(lines.toString())) return null;
    chunks += 1;
    return chunks === 1 ? null : new AppError('unavailable', 'not now');
  };
  const added = await post(first, `${HOOKS}/${hook}/backfill`, { since: EVER });
  assert.equal(added.status, 202, added.text);
  await until('the job is stopped', () => chunks > 1, { msMax: WAIT_MS_MAX });
  const [{ done }] = JSON.parse((await first.ask('/api/jobs')).text);
  assert.ok(done > 1 && done < EVENTS, String(done));
  return {
    hook, arrived, done, missed: emitted.map(({ n }) => n),
    async untilPassed(node) {
      passed.clear();
      await emitAnyhow(node, 'pass', {});
      await until('all have passed', () => passed.size === PASSING, { msMax: WAIT_MS_MAX });
    },
    goOn: () => void (apps.engine.refuse = () => null),
  };
}

async function untilArrived({ arrived }: StoppedBackfill, count: number): Promise<void> {
  await until(`${count} have arrived`, () => arrived.length >= count,
    { msMax: WAIT_MS_MAX, seen: () => String(arrived.length) });
}

/**
 * Resolves when all that the stopped job has made is delivered on disk, too. Without that, what has
 * arrived may arrive again from the next node: the write of its result may have failed together
 * with that of the job.
 */
async function untilDelivered(node: Node, backfill: StoppedBackfill): Promise<void> {
  await untilArrived(backfill, backfill.done);
  await until('their results are written', async () =>
    await countDeliveries(node, backfill.hook, '&status=delivered') === backfill.done,
    { msMax: WAIT_MS_MAX });
}

/** Finds the node that runs jobs, and the others. */
async function splitNodes(nodes: readonly Node[]): Promise<readonly [Node, readonly Node[]]> {
  let runner: Node | undefined;
  await until('a node runs jobs', async () => {
    const views: readonly NodeView[] = JSON.parse((await nodes[0]?.ask('/api/nodes'))?.text ?? '');
    const id = views.find(({ shards }) => shards.includes(0))?.identifier;
    runner = nodes.find((node) => node.id === id);
    return runner !== undefined;
  });
  assert.ok(runner !== undefined);
  return [runner, nodes.filter((node) => node !== runner)];
}

test('when the node that runs a backfill goes away, another goes on; new events wait on all nodes',
  () => withNodes(3, async (nodes, apps) => {
    const [runner, others] = await splitNodes(nodes);
    const backfill = await stopInMidst(nodes, apps);
    await untilDelivered(runner, backfill);
    for (const [index, node] of nodes.entries()) {
      await emitAnyhow(node, 'thing.happened', { n: EVENTS + index });
    }
    await runner.app.close();
    const [other] = others;
    assert.ok(other !== undefined);
    await splitNodes(others);
    await backfill.untilPassed(other);
    assert.deepEqual(backfill.arrived, backfill.missed.slice(0, backfill.done), 'they wait');
    backfill.goOn();
    await untilArrived(backfill, EVENTS + nodes.length);
    await untilEnded(other);
    assert.deepEqual(backfill.arrived,
      [...backfill.missed, ...range(EVENTS + nodes.length).slice(EVENTS)], 'each once, in order');
    assert.equal((await emit(other, EVENTS + nodes.length)).status, 202);
    await untilArrived(backfill, EVENTS + nodes.length + 1);
    assert.equal(await countDeliveries(other, backfill.hook), EVENTS + nodes.length + 1);
  }));

const range = (length: number): readonly number[] => Array.from({ length }, (_, n) => n);
