/** Runs of stored requests that wait for a command slot: which begin, and what they keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import type { RegisteredAction } from '../../../../src/webhooks/actions/action-registry.ts';
import {
  COALESCED, CommandSlots,
} from '../../../../src/webhooks/actions/commands/command-slots.ts';
import { CoalescedResult } from '../../../../src/webhooks/actions/run-action.ts';
import { InboxSimulation } from './inbox.ts';

const MINUTE_MS = 60_000;

/** An inbox with an action that takes slots as `run-command` does, and ends when it is told. */
class SlotInbox extends InboxSimulation {
  /** The requests whose runs have begun, in that order. */
  readonly begun: string[];
  readonly slots: CommandSlots;
  readonly #ends: ((result: ActionResult) => void)[];

  constructor(slotCount = 4) {
    const slots = new CommandSlots({ max: slotCount });
    const begun: string[] = [];
    const ends: ((result: ActionResult) => void)[] = [];
    const action: RegisteredAction = {
      identifier: 'slotted', label: 'Slotted', isBuiltIn: true, module: null, options: {},
      limitsItsTime: true, validateOptions: () => [],
      async run({ configurationId, options, wait, storedRequestId, context }) {
        const slot = await slots.take({
          configuration: configurationId, max: options['single'] === true ? 1 : null,
          order: options['coalesce'] === true ? wait?.place ?? null : null,
          isRetry: context.attempt > 1,
          signal: wait?.cutOff ?? null, onWaiting: (isWaiting) => wait?.onWaiting(isWaiting),
        });
        if (slot === COALESCED) return new CoalescedResult();
        begun.push(storedRequestId ?? '');
        const result = await new Promise<ActionResult>((resolve) => ends.push(resolve));
        slot();
        return result;
      },
    };
    super({ optionalActions: [action] });
    this.slots = slots;
    this.begun = begun;
    this.#ends = ends;
  }

  /** A webhook whose only route runs the action; its identifier. */
  async addSlotted(pathSegment: string, options: object, members: object = {}): Promise<string> {
    const { configurations, incoming } = this.webhooks.resources;
    const identifier = `slotted-${pathSegment}`;
    await this.run(configurations.add({ identifier, actionType: 'slotted', options }));
    const { bytes } = await this.run(incoming.add({
      pathSegment, inbox: 'all', answer: 'accepted',
      routes: [{ name: 'a', actionConfiguration: identifier }], ...members,
    }));
    return String(JSON.parse(bytes.toString()).identifier);
  }

  async acceptMany(hook: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) ids.push(await this.accept(hook));
    await this.clock.advance(0);
    return ids;
  }

  /** Ends the run that began first of those under way. */
  async end(result = ActionResult.ok()): Promise<void> {
    const end = this.#ends.shift();
    assert.ok(end !== undefined, 'a run is under way');
    end(result);
    await this.clock.advance(0);
  }

  status(id: string | undefined): string | undefined {
    return this.states(id ?? '')[1];
  }
}

test('of a thousand requests the first runs, then the newest, and the others are coalesced',
  async () => {
    const inbox = new SlotInbox();
    const hook = await inbox.addSlotted('deploy', { single: true, coalesce: true });
    const ids = await inbox.acceptMany(hook, 1000);
    assert.deepEqual(inbox.begun, ids.slice(0, 1));
    assert.equal(inbox.slots.waitingCount, 1);
    assert.deepEqual(
      ids.map((id) => inbox.status(id)),
      ids.map((_, index) => index === 0 || index === 999 ? 'pending' : 'coalesced'));
    await inbox.end();
    assert.deepEqual(inbox.begun, [ids[0], ids[999]]);
    await inbox.end();
    assert.deepEqual([inbox.status(ids[0]), inbox.status(ids[999])], ['done', 'done']);
  });

test('a retry does not run after what was newer', async () => {
  const inbox = new SlotInbox();
  const hook = await inbox.addSlotted('deploy', { single: true, coalesce: true });
  const [first, , newest] = await inbox.acceptMany(hook, 3);
  await inbox.end(ActionResult.fail('no'));
  assert.deepEqual(inbox.begun, [first, newest]);
  await inbox.clock.advance(MINUTE_MS);
  assert.deepEqual(inbox.begun, [first, newest]);
  await inbox.end(ActionResult.fail('no'));
  await inbox.clock.advance(MINUTE_MS);
  assert.deepEqual(inbox.begun, [first, newest, newest]);
  await inbox.end();
  assert.deepEqual([inbox.status(first), inbox.status(newest)], ['coalesced', 'done']);
});

test('an operator who runs an old request again has it run', async () => {
  const inbox = new SlotInbox();
  const hook = await inbox.addSlotted('deploy', { single: true, coalesce: true });
  const [old = ''] = await inbox.acceptMany(hook, 1);
  await inbox.end();
  await inbox.acceptMany(hook, 1);
  await inbox.end();
  await inbox.clock.advance(MINUTE_MS);
  await inbox.run(inbox.webhooks.requests.replay(old, { routes: null, isNew: false }));
  await inbox.clock.advance(0);
  assert.deepEqual([inbox.begun.length, inbox.begun.at(-1)], [3, old]);
});

test('runs that wait keep no webhook from running', async () => {
  const inbox = new SlotInbox(1);
  for (let index = 0; index < 12; index += 1) {
    await inbox.acceptMany(await inbox.addSlotted(`slow-${index}`, {}), 20);
  }
  assert.deepEqual([inbox.begun.length, inbox.slots.waitingCount], [1, 95]);
  const id = await inbox.accept(await inbox.addWebhook());
  await inbox.clock.advance(0);
  assert.deepEqual(inbox.states(id), ['done', 'done']);
});

test('requests run in the order in which they came, one at a time', async () => {
  const inbox = new SlotInbox();
  const hook = await inbox.addSlotted('deploy', { single: true });
  const ids = await inbox.acceptMany(hook, 20);
  for (let index = 0; index < 20; index += 1) await inbox.end();
  assert.deepEqual(inbox.begun, ids);
});

test('a run that waits begins no more once its webhook is off, and later when it is on again',
  async () => {
    const inbox = new SlotInbox();
    const hook = await inbox.addSlotted('deploy', { single: true });
    const [first, second] = await inbox.acceptMany(hook, 2);
    const { incoming } = inbox.webhooks.resources;
    await inbox.run(incoming.patch(hook, { enabled: false }));
    await inbox.end();
    assert.deepEqual([inbox.begun, inbox.slots.waitingCount], [[first], 0]);
    await inbox.run(incoming.patch(hook, { enabled: true }));
    await inbox.clock.advance(MINUTE_MS);
    assert.deepEqual(inbox.begun, [first, second]);
    await inbox.end();
    const { deliveries: [route] = [] } = inbox.request(second ?? '') ?? {};
    assert.deepEqual([route?.status, route?.attempts.length], ['delivered', 1]);
  });

test('a run that waits never begins once its webhook is removed', async () => {
  const inbox = new SlotInbox();
  const hook = await inbox.addSlotted('deploy', { single: true });
  const [first, second] = await inbox.acceptMany(hook, 2);
  await inbox.run(inbox.webhooks.resources.incoming.remove(hook));
  await inbox.end();
  await inbox.clock.advance(MINUTE_MS);
  assert.deepEqual([inbox.begun, inbox.status(second)], [[first], 'failed']);
});

test('a service that stops does not wait for runs that wait, and leaves them pending', async () => {
  const inbox = new SlotInbox();
  const hook = await inbox.addSlotted('deploy', { single: true });
  const [first, second] = await inbox.acceptMany(hook, 2);
  const closing = inbox.webhooks.close(MINUTE_MS);
  await inbox.clock.advance(0);
  await inbox.end();
  await inbox.run(closing);
  assert.deepEqual([inbox.begun, inbox.status(first), inbox.status(second)],
    [[first], 'done', 'pending']);
});
