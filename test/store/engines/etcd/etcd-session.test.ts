import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createEtcdEngine } from '../../../../src/store/engines/etcd/etcd-engine.ts';
import type { EngineSession, LogEntry } from '../../../../src/store/engines/engine.ts';
import { startFakeEtcd } from '../../../support/fake-etcd.ts';
import type { AskedEtcd, EtcdAnswer } from '../../../support/fake-etcd.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { until } from '../../../support/until.ts';

const LOG = '00000000-0000-4000-8000-000000000000';
const START = { sequence: 0, chain: '' };
const ENTRY: LogEntry = {
  first: 1, sequence: 2, batchId: '00000000-0000-4000-8000-000000000001', chain: 'c2',
  lines: Buffer.from('a\nb\n'),
};
const UNDONE = { succeeded: false };
const THERE = { kvs: [{ key: 'x', value: Buffer.concat([
  Buffer.from(`{"first":1,"sequence":2,"batch":"${ENTRY.batchId}","chain":"c2"}\n`), ENTRY.lines,
]).toString('base64') }] };
const NO_SPACE = { status: 429, code: 8, message: 'etcdserver: mvcc: database space exceeded' };

test('an append that reached nobody is refused, and the next member is asked', async (context) => {
  const gone = await portOfNobody();
  const { port, asked } = await startMember(context, () => ({ succeeded: true }));
  const session = await connect(context, `etcd://127.0.0.1:${gone},127.0.0.1:${port}`);
  assert.equal(await session.append(LOG, START, ENTRY), true);
  assert.equal(asked.length, 1);
});

test('without any member, an append is refused: surely nothing was written', async (context) => {
  const gone = await portOfNobody();
  const { port, asked, stop } = await startMember(context, () => 'cut');
  const session = await connect(context, `etcd://127.0.0.1:${port},127.0.0.1:${gone}`);
  stop();
  // A connection that was kept may seem to stand for as long as nothing was sent on it.
  await assert.rejects(session.head(), { code: 'unknown_outcome' });
  await assert.rejects(session.append(LOG, START, ENTRY), { code: 'unavailable' });
  assert.deepEqual(asked, []);
});

for (const [what, answer] of [
  ['is cut off', 'cut'],
  ['times out in etcd', { status: 503, code: 14, message: 'etcdserver: request timed out' }],
  ['finds no leader', { status: 503, code: 14, message: 'etcdserver: no leader' }],
  ['is answered by a proxy', { status: 502 }],
] as const) {
  test(`the outcome of an append that ${what} is unknown, and nobody else is asked`,
    async (context) => {
      const first = await startMember(context, () => answer);
      const second = await startMember(context, () => ({ succeeded: true }), false);
      const session = await connect(context,
        `etcd://127.0.0.1:${first.port},127.0.0.1:${second.port}`);
      await assert.rejects(session.append(LOG, START, ENTRY), { code: 'unknown_outcome' });
      assert.deepEqual([first.asked.length, second.asked.length], [1, 0]);
    });
}

test('a member that says nothing is waited for so long, then its answer is unknown',
  async (context) => {
    const { port, asked } = await startMember(context, () => 'silence');
    const clock = new ManualClock();
    const session = await connect(context, `etcd://127.0.0.1:${port}`, clock);
    const appended = session.append(LOG, START, ENTRY);
    appended.catch(() => {});
    await until('the append has come', () => asked.length === 1);
    await clock.advance(3000);
    await assert.rejects(appended, { code: 'unknown_outcome', message: /within 3000 ms/ });
  });

test('what only reads is asked of the next member', async (context) => {
  const first = await startMember(context, () => 'cut');
  const second = await startMember(context, () => ({ kvs: [] }), false);
  const session = await connect(context,
    `etcd://127.0.0.1:${first.port},127.0.0.1:${second.port}`);
  assert.deepEqual(await session.readAfter(0, 5), []);
  assert.deepEqual(await session.readAfter(0, 5), []);
  assert.deepEqual([first.asked.length, second.asked.length], [1, 2]);
});

test('sent again after an unknown outcome, an entry that is there is told so', async (context) => {
  const answers: EtcdAnswer[] = ['cut', UNDONE, THERE, UNDONE, { kvs: [] }];
  const { port } = await startMember(context, () => answers.shift() ?? 'cut');
  const session = await connect(context, `etcd://127.0.0.1:${port}`);
  await assert.rejects(session.append(LOG, START, ENTRY), { code: 'unknown_outcome' });
  assert.equal(await session.append(LOG, START, ENTRY), true);
  assert.equal(await session.append(LOG, START, ENTRY), false);
});

// quotaApplierV3 of etcd writes, and then says that it has no space.
test('of two appends that etcd has no space for, the one it wrote was committed',
  async (context) => {
    const answers: EtcdAnswer[] = [NO_SPACE, THERE, NO_SPACE, { kvs: [] }];
    const { port } = await startMember(context, () => answers.shift() ?? 'cut');
    const session = await connect(context, `etcd://127.0.0.1:${port}`);
    assert.equal(await session.append(LOG, START, ENTRY), true);
    await assert.rejects(session.append(LOG, START, ENTRY),
      { code: 'storage_full', message: /--quota-backend-bytes/ });
  });

test('a token that has expired is renewed, and the request sent again', async (context) => {
  let tokens = 0;
  const { port, asked } = await startMember(context, ({ path, token }) => {
    if (path === '/v3/auth/authenticate') return { token: `t${tokens += 1}` };
    return token === 't2' ? { succeeded: true }
      : { status: 401, code: 16, message: 'etcdserver: invalid auth token' };
  });
  const session = await connect(context, `etcd://me:secret@127.0.0.1:${port}`);
  assert.equal(await session.append(LOG, START, ENTRY), true);
  assert.deepEqual(asked.map(({ path, token }) => [path, token]), [
    ['/v3/auth/authenticate', ''], ['/v3/kv/txn', 't1'], ['/v3/auth/authenticate', ''],
    ['/v3/kv/txn', 't2'],
  ]);
  assert.deepEqual(asked[0]?.body, { name: 'me', password: 'secret' });
});

for (const [what, answer, message] of [
  ['who may not', { status: 403, code: 7, message: 'etcdserver: permission denied' },
    /name a user in the URL/],
  ['who has no user', { status: 400, code: 3, message: 'etcdserver: user name is empty' },
    /name a user in the URL/],
  ['a user where there are none', {
    status: 412, code: 9, message: 'etcdserver: authentication is not enabled',
  }, /leave the user out/],
  ['what is no etcd', 'no etcd', /is it etcd 3\.4 or later/],
] as const) {
  test(`${what} is refused and told how to mend it`, async (context) => {
    const { port } = await startMember(context, () => answer);
    const session = await connect(context, `etcd://127.0.0.1:${port}`);
    await assert.rejects(session.append(LOG, START, ENTRY), { code: 'misconfigured', message });
  });
}

test('where nobody answers, connecting says so and names no password', async () => {
  const engine = createEtcdEngine({ url: `etcd://me:secret@127.0.0.1:${await portOfNobody()}` });
  await assert.rejects(engine.connect(), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'unknown_outcome');
    assert.match(error.message, /^etcd:\/\/127\.0\.0\.1:\d+\/hookshelf: connect ECONNREFUSED/);
    return true;
  });
});

for (const [what, value] of [
  ['no JSON', 'x'], ['another log', JSON.stringify({ log: 'other', sequence: 1, chain: '' })],
] as const) {
  test(`a head that is ${what} is damage`, async (context) => {
    const log = Buffer.from(JSON.stringify({ log: LOG, format: 1 })).toString('base64');
    const ranges = [log, Buffer.from(value).toString('base64'), log].map((found) =>
      ({ response_range: { kvs: [{ key: 'x', value: found }] } }));
    const { port } = await startMember(context, () => ({ responses: ranges }));
    const session = await connect(context, `etcd://127.0.0.1:${port}`);
    await assert.rejects(session.head(), { code: 'damaged' });
  });
}

/** One that leads, or not; `answer` is asked for all but what connecting asks. */
async function startMember(
  context: TestContext, answer: (asked: AskedEtcd) => EtcdAnswer, isLeader = true,
): Promise<{ readonly port: number; readonly asked: AskedEtcd[]; stop(): void }> {
  const asked: AskedEtcd[] = [];
  const { port, stop } = await startFakeEtcd(context, (call) => {
    if (call.path === '/v3/maintenance/status') {
      return { header: { member_id: '1' }, leader: isLeader ? '1' : '2' };
    }
    if (call.path === '/v3/cluster/member/list') return { members: [{}, {}, {}] };
    asked.push(call);
    return answer(call);
  });
  return { port, asked, stop };
}

async function connect(
  context: TestContext, url: string, clock?: ManualClock,
): Promise<EngineSession> {
  const session = await createEtcdEngine({ url, ...clock === undefined ? {} : { clock } })
    .connect();
  context.after(() => session.close());
  return session;
}

async function portOfNobody(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
