/** Requests that are the same event again, each row of the manual's table; many at once. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { until } from '../../support/until.ts';
import type { Answer } from '../relay.ts';
import {
  ACCEPTED, HEADER, SECRET, SIGNED, Scripted, kept, message, release, send, start, type Shown,
} from './scripted.ts';
import { someTurns } from '../../support/turns.ts';

const INBOXES = ['off', 'failed', 'all'];

describe('an event that was done', () => {
  for (const inbox of INBOXES) {
    test(`is not run again, with the inbox ${inbox}`, async (context) => {
      const relay = await start(context, { ...HEADER, inbox });
      const first = await send(relay, 'a');
      assert.deepEqual(message(first), [200, '']);
      for (const answer of await Promise.all(
        Array.from({ length: 100 }, () => send(relay, 'a')))) {
        assert.deepEqual(message(answer), [200, 'Duplicate']);
        assert.deepEqual(answer.json['data'], first.json['data'], 'as the first was answered');
      }
      assert.equal(Scripted.runs.length, 1);
      assert.deepEqual(message(await send(relay, 'b')), [200, '']);
      const requests = await kept(relay);
      const duplicates = requests.filter(({ status }) => status === 'duplicate');
      assert.equal(duplicates.length, inbox === 'all' ? 100 : 0);
      const original = requests.find(({ status, eventId }) => status === 'done' && eventId === 'a');
      assert.ok(duplicates.every(({ duplicateOf }) => duplicateOf === original?.['id']));
    });
  }

  test('runs again once its time is over, or where nothing is compared', async (context) => {
    for (const [hook, runs] of [[HEADER, 1], [{ deduplicate: 'off' }, 2], [{}, 2]] as const) {
      const relay = await start(context, hook);
      await send(relay, 'a');
      await send(relay, 'a');
      assert.equal(Scripted.runs.length, runs);
      await relay.close();
    }
  });
});

describe('an event that is under way', () => {
  for (const inbox of INBOXES) {
    test(`is waited for, with the inbox ${inbox}`, async (context) => {
      const relay = await start(context, { ...HEADER, inbox });
      Scripted.isHeld = true;
      const answers = Array.from({ length: 100 }, () => send(relay, 'a'));
      await until('it runs', () => Scripted.gates.length === 1);
      release();
      const heard = await Promise.all(answers);
      assert.equal(Scripted.runs.length, 1);
      assert.deepEqual(heard.map((answer) => answer.status), heard.map(() => 200));
      assert.equal(heard.filter(({ json }) => json['message'] === '').length, 1);
      assert.equal(heard.filter(({ json }) => json['message'] === 'Duplicate').length, 99);
    });
  }

  test('waits take no one\'s place, and tell of a failure', async (context) => {
    const relay = await start(context, HEADER, { incoming: { maxConcurrent: 2 } });
    Scripted.isHeld = true;
    Scripted.fails = true;
    const answers = Array.from({ length: 20 }, () => send(relay, 'a'));
    await until('it runs', () => Scripted.gates.length === 1);
    const other = send(relay, 'b');
    await until('another one runs beside', () => Scripted.gates.length === 2);
    release();
    for (const answer of [...await Promise.all(answers), await other]) {
      assert.deepEqual(message(answer), [400, 'no']);
    }
    assert.equal(Scripted.runs.length, 2);
  });

  test('is 503 with Retry-After when the sender would have given up', async (context) => {
    // Slack waits for three seconds.
    const relay = await start(context, {
      secret: SECRET, verification: { preset: 'slack' }, deduplicate: { json: 'id' },
      inbox: 'failed',
    }, { incoming: { actionTimeoutMs: 30_000 } });
    const slack = (): Promise<Answer> => {
      const time = String(Math.floor(Date.now() / 1000));
      const body = '{"id":"a"}';
      const digest = createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex');
      return relay.ask('POST', '/webhook/in/hook', body, {
        'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${digest}`,
      });
    };
    Scripted.isHeld = true;
    const first = slack();
    await until('it runs', () => Scripted.gates.length === 1);
    const second = await slack();
    assert.equal(second.status, 503);
    assert.ok(Number(second.headers['retry-after']) > 0);
    release();
    assert.equal((await first).status, 200);
    assert.deepEqual(message(await slack()), [200, 'Duplicate']);
  });

  test('is answered at once where requests are accepted', async (context) => {
    const relay = await start(context, { ...HEADER, ...ACCEPTED });
    const heard = await Promise.all(Array.from({ length: 100 }, () => send(relay, 'a')));
    const ids = new Set(heard.map(({ json }) => (json['data'] as Shown)['request']));
    assert.equal(ids.size, 1);
    assert.equal(heard.filter(({ json }) => json['message'] === '').length, 1);
    assert.equal(heard.filter(({ json }) => json['message'] === 'Duplicate').length, 99);
    const requests = await kept(relay);
    assert.equal(requests.filter(({ status }) => status === 'duplicate').length, 99);
    assert.ok(requests.every(({ status, duplicateOf, id }) =>
      status === 'duplicate' ? ids.has(duplicateOf) : ids.has(id)));
    relay.webhooks.start();
    await until('it is done', async () =>
      (await kept(relay)).some(({ status }) => status === 'done'));
    assert.equal(Scripted.runs.length, 1);
    assert.deepEqual(message(await send(relay, 'a')), [200, 'Duplicate']);
    assert.equal(Scripted.runs.length, 1);
  });
});

describe('the same id with another body', () => {
  for (const mode of [{ inbox: 'failed' }, { inbox: 'all' }, ACCEPTED]) {
    test(`is a duplicate when the id is signed: ${JSON.stringify(mode)}`, async (context) => {
      const relay = await start(context, { ...SIGNED, ...mode });
      await send(relay, 'a', { n: 1 });
      assert.deepEqual(message(await send(relay, 'a', { n: 2 })), [200, 'Duplicate']);
    });

    test(`runs, flagged, when it is not: ${JSON.stringify(mode)}`, async (context) => {
      const relay = await start(context, { ...HEADER, ...mode });
      await send(relay, 'a', { n: 1 });
      assert.deepEqual(message(await send(relay, 'a', { n: 2 })), [200, '']);
      const again = await Promise.all(Array.from({ length: 10 }, () => send(relay, 'a', { n: 2 })));
      assert.ok(again.every(({ json }) => json['message'] === 'Duplicate'));
      assert.deepEqual(message(await send(relay, 'a', { n: 1 })), [200, 'Duplicate']);
      if (mode.inbox === 'failed') return;
      const firsts = (await kept(relay)).filter(({ duplicateOf }) => duplicateOf === null);
      assert.deepEqual(firsts.map(({ eventIdReused }) => eventIdReused), [true, false]);
    });
  }

  test('runs beside the one that is under way', async (context) => {
    const relay = await start(context, HEADER);
    Scripted.isHeld = true;
    const answers = [send(relay, 'a', { n: 1 }), send(relay, 'a', { n: 2 })];
    await until('both run', () => Scripted.gates.length === 2);
    release();
    assert.deepEqual((await Promise.all(answers)).map(message), [[200, ''], [200, '']]);
  });
});

test('a replay by an operator always runs', async (context) => {
  const relay = await start(context, { ...HEADER, inbox: 'all' });
  relay.webhooks.start();
  await send(relay, 'a');
  const [{ id } = {}] = await kept(relay);
  for (const as of ['retry', 'new']) {
    const before = Scripted.runs.length;
    const answer = await relay.ask('POST', `/api/requests/${String(id)}/replay`, { as });
    assert.equal(answer.status, 202, answer.text);
    await until('it runs', () => Scripted.runs.length === before + 1);
  }
});

test('who finds a replay under way waits for it', async (context) => {
  const relay = await start(context, { ...HEADER, inbox: 'all' });
  relay.webhooks.start();
  await send(relay, 'a');
  const [{ id } = {}] = await kept(relay);
  Scripted.isHeld = true;
  await relay.ask('POST', `/api/requests/${String(id)}/replay`, {});
  await until('it runs', () => Scripted.gates.length === 1);
  const second = send(relay, 'a');
  await someTurns(1);
  release();
  assert.deepEqual(message(await second), [200, 'Duplicate']);
});

test('an inbox that is full refuses new events and knows the old ones', async (context) => {
  const relay = await start(context, { ...HEADER, ...ACCEPTED },
    { inbox: { maxCount: 1 } });
  assert.equal((await send(relay, 'a')).status, 200);
  assert.equal((await send(relay, 'b')).status, 503);
  assert.deepEqual(message(await send(relay, 'a')), [200, 'Duplicate']);
  assert.equal((await send(relay, 'a', { n: 2 })).status, 503, 'an event of its own');
});

test('a duplicate is stored only where the inbox has room for it', async (context) => {
  const relay = await start(context, { ...HEADER, ...ACCEPTED },
    { inbox: { maxBytes: 10_000 } });
  const body = { text: 'x'.repeat(3000) };
  assert.deepEqual(message(await send(relay, 'a', body)), [200, '']);
  for (let turn = 0; turn < 10; turn += 1) {
    assert.deepEqual(message(await send(relay, 'a', body)), [200, 'Duplicate']);
  }
  // A quarter above the limit, retention is behind.
  const stored = await kept(relay);
  assert.ok(stored.length > 1 && stored.length < 6, `${stored.length} requests are stored`);
  assert.ok(relay.logLines.some((line) => line.includes('a request could not be kept')));
});

test('an id that is empty or too long is none', async (context) => {
  const relay = await start(context, HEADER);
  for (const id of ['', 'x'.repeat(1001)]) {
    await send(relay, id);
    await send(relay, id);
  }
  assert.equal(Scripted.runs.length, 4);
  const id = randomUUID();
  await Promise.all([send(relay, id), send(relay, id)]);
  assert.equal(Scripted.runs.length, 5);
});

test('a long id is known again, and is not taken for another', async (context) => {
  const relay = await start(context, HEADER);
  const ids = [64, 65, 1000].flatMap((length) => ['a', 'b'].map((end) =>
    'x'.repeat(length - 1) + end));
  for (const id of ids) assert.deepEqual(message(await send(relay, id)), [200, '']);
  for (const id of ids) assert.deepEqual(message(await send(relay, id)), [200, 'Duplicate']);
  assert.equal(Scripted.runs.length, ids.length);
});

test('a number is an id with all its digits', async (context) => {
  const relay = await start(context, SIGNED);
  const numbers = ['9007199254740991', '9007199254740992', '9007199254740993', '1e400', '1e401'];
  for (const number of numbers) {
    const body = `{"id":${number}}`;
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { 'X-Signature': `sha256=${signature}` };
    for (const text of ['', 'Duplicate']) {
      const answer = await relay.ask('POST', '/webhook/in/hook', body, headers);
      assert.deepEqual(message(answer), [200, text], number);
    }
  }
});

describe('while the disk is full, what has to be kept', () => {
  const full = new AppError('storage_full', 'the disk');

  test('does not run, as its sender is told to send it again', async (context) => {
    const relay = await start(context, { ...HEADER, inbox: 'all' });
    const store = relay.store as MemoryStore;
    Scripted.fails = true;
    assert.equal((await send(relay, 'failed')).status, 400);
    store.setFailure(full);
    for (const id of ['failed', 'new']) assert.equal((await send(relay, id)).status, 507);
    assert.equal(Scripted.runs.length, 1);
    store.setFailure(null);
    Scripted.fails = false;
    for (const id of ['failed', 'new']) assert.deepEqual(message(await send(relay, id)), [200, '']);
  });

  test('runs once where that is found too late', async (context) => {
    const relay = await start(context, { ...HEADER, inbox: 'all' });
    (relay.store as MemoryStore).failNextBatch(full);
    assert.equal((await send(relay, 'a')).status, 507);
    assert.deepEqual(message(await send(relay, 'a')), [200, 'Duplicate']);
    assert.equal(Scripted.runs.length, 1);
  });
});
