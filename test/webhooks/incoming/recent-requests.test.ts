/** Requests staged a moment ago, found without being decoded while they are what is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentRequests } from '../../../src/webhooks/inbox/intake/recent-requests.ts';
import { encodeRequest } from '../../../src/webhooks/inbox/request-codec.ts';
import type { StoredRequest } from '../../../src/webhooks/incoming/stored-request.ts';
import { until } from '../../support/until.ts';
import { startRelayFor } from '../relay.ts';
import { makeStoredRequest } from '../inbox/sample-request.ts';
import { createActionClass } from '../context.ts';

const idOf = (index: number): string =>
  `01890000-0000-7000-8000-${String(index).padStart(12, '0')}`;

function add(
  recent: RecentRequests, index: number, body = Buffer.from('{}'),
  given: Partial<StoredRequest> = {},
): Buffer {
  const item = makeStoredRequest({ body, given: { id: idOf(index), ...given } });
  const bytes = Buffer.from(encodeRequest(item));
  recent.add({ stored: { bytes, item }, body, headers: null });
  return bytes;
}

test('a request is found by the bytes that were staged, and by no others', () => {
  const recent = new RecentRequests();
  const bytes = add(recent, 1);
  assert.equal(recent.find(idOf(1), bytes)?.stored.item.id, idOf(1));
  assert.equal(recent.find(idOf(1), bytes.subarray(0))?.body.toString(), '{}');
  assert.equal(recent.find(idOf(1), Buffer.from(bytes)), undefined, 'written again since');
  assert.equal(recent.find(idOf(2), bytes), undefined);
  assert.equal(recent.get(idOf(1))?.stored.bytes, bytes);
  recent.delete(idOf(1));
  assert.equal(recent.find(idOf(1), bytes), undefined);
  assert.equal(recent.get(idOf(1)), undefined);
});

test('a transaction that runs again stages it anew', () => {
  const recent = new RecentRequests();
  const first = add(recent, 1);
  const second = add(recent, 1);
  assert.equal(recent.find(idOf(1), first), undefined);
  assert.notEqual(recent.find(idOf(1), second), undefined);
});

test('the oldest are dropped when there are too many, or too many bytes', () => {
  const many = new RecentRequests();
  const staged = Array.from({ length: 1025 }, (_, index) => add(many, index));
  const isThere = (recent: RecentRequests, index: number, bytes: Buffer | undefined): boolean =>
    bytes !== undefined && recent.find(idOf(index), bytes) !== undefined;
  assert.deepEqual([0, 1, 1024].map((index) => isThere(many, index, staged[index])),
    [false, true, true]);
  const large = new RecentRequests();
  const bodies = [0, 1, 2].map((index) => add(large, index, Buffer.alloc(3 << 20, 'x')));
  assert.deepEqual([0, 1, 2].map((index) => isThere(large, index, bodies[index])),
    [false, true, true]);
  const headers = Array.from({ length: 1300 }, (_, index) => [`k${index}`, 'b'] as const);
  const wide = new RecentRequests();
  const heads = Array.from({ length: 100 }, (_, index) => add(wide, index, undefined, { headers }));
  assert.deepEqual([0, 99].map((index) => isThere(wide, index, heads[index])), [false, true]);
});

test('what is changed before it runs is run as it is then', async (context) => {
  const replays: boolean[] = [];
  let release = (): void => {};
  const Gate = createActionClass('gate', async (
    _: unknown, { replay }: { readonly replay: boolean },
  ) => {
    replays.push(replay);
    if (replays.length === 1) await new Promise<void>((resolve) => { release = resolve; });
    return { success: true };
  });
  const relay = await startRelayFor(
    context, { actions: [Gate], incoming: { maxInFlightPerHook: 1 } });
  relay.webhooks.start();
  await relay.hook({ actionType: 'gate' }, { inbox: 'all', answer: 'accepted' });
  const send = async (): Promise<string> => {
    const { json } = await relay.ask('POST', '/webhook/in/hook', {});
    return String((json['data'] as { readonly request: string }).request);
  };
  await send();
  await until('the first runs', () => replays.length === 1);
  const [replayed] = [await send(), await send()];
  const { status } = await relay.ask('POST', `/api/requests/${replayed}/replay`, {});
  assert.equal(status, 202);
  release();
  await until('all have run', () => replays.length === 3);
  assert.deepEqual(replays, [false, true, false]);
});
