import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredRequest } from '../../../src/webhooks/incoming/stored-request.ts';
import { addRequest } from '../../../src/webhooks/inbox/request-changes.ts';
import { withAppStore } from '../../support/app-store.ts';
import { until } from '../../support/until.ts';
import { makeStoredRequest } from '../../webhooks/inbox/sample-request.ts';
import { ALL_WAYS, WAYS, inPlace, type Place } from '../place.ts';

const HOOK = '01890000-0000-7000-8000-00000000000a';
const GONE_HOOK = '01890000-0000-7000-8000-00000000000b';
/** An hour ago, in whole seconds: what is old goes. */
const START_MS = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
const at = (second: number): string => new Date(START_MS + second * 1000).toISOString();
const ids = [0, 1, 2, 3].map((number) => `01890000-0000-7000-8000-00000000000${number}`);
const [FIRST = '', SECOND = '', THIRD = '', FOURTH = ''] = ids;
const BODY = Buffer.from('{"it\'s": "\u00fc"}');
const BINARY = Buffer.from([0, 255, 10, 13]);

const KEPT: readonly (readonly [Partial<StoredRequest>, Buffer])[] = [
  [{
    event: 'push', status: 'failed', query: 'a=1&token=***',
    headers: [['Content-Type', 'application/json'], ['X-Hub-Signature-256', 'sha256=planted']],
    signatures: ['x-hub-signature-256'],
    answered: { status: 400, afterMs: 3 },
  }, BODY],
  [{
    event: 'ping', status: 'done', headers: [['Content-Type', 'image/png']],
    unparsed: { fittingFormat: null },
  }, BINARY],
  [{ event: 'push', status: 'pending', unparsed: { fittingFormat: 'text' } }, BODY],
  [{ hook: GONE_HOOK, status: 'filtered' }, BODY],
];

/** As if a server had kept them before. */
function keepRequests(data: string): Promise<void> {
  return withAppStore(data, async (store) => {
    await store.transact((transaction) => {
      const stamps = `"createdAt":"${at(0)}","updatedAt":"${at(0)}"`;
      transaction.put('action-configurations', 'to-log',
        `{"identifier":"to-log",${stamps},"actionType":"log","options":{}}`);
      // Disabled, so that what is pending waits.
      transaction.put('incoming-webhooks', HOOK, `{"identifier":"${HOOK}",${stamps},`
        + '"pathSegment":"hook","enabled":false,"actionConfiguration":"to-log"}');
    });
    await store.transact((transaction) => {
      for (const [index, [given, body]] of KEPT.entries()) {
        const [id = '', time] = [ids[index], at(index)];
        addRequest(transaction, makeStoredRequest({
          body, given: { id, hook: HOOK, receivedAt: time, updatedAt: time, ...given },
        }), body);
      }
    });
  });
}

async function listed(place: Place, words: string): Promise<string[]> {
  const rows = await place.json<{ id: string }[]>(`request:list ${words}`.trim().split(' '));
  return rows.map(({ id }) => id);
}

async function printedBody(place: Place, id: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await place.run(['request:show', id, '--body'], { onOutput: (chunk) => chunks.push(chunk) });
  return Buffer.concat(chunks);
}

for (const way of WAYS) {
  test(`kept requests are listed, newest first, ${way}`, () => inPlace(way, async (place) => {
    assert.deepEqual(await listed(place, ''), [FOURTH, THIRD, SECOND, FIRST]);
    assert.deepEqual(await listed(place, '--event push'), [THIRD, FIRST]);
    assert.deepEqual(await listed(place, '--status failed'), [FIRST]);
    assert.deepEqual(await listed(place, `--hook ${GONE_HOOK}`), [FOURTH]);
    assert.deepEqual(await listed(place, '--hook hook --limit 1'), [THIRD]);
    assert.deepEqual(await listed(place, '--limit 2000'), [FOURTH, THIRD, SECOND, FIRST]);
    assert.equal((await place.run(['request:list', '--limit', '0'])).code, 2);
    assert.deepEqual(await listed(place, `--since ${at(1)}`), [FOURTH, THIRD, SECOND]);
    assert.deepEqual(await listed(place, `--until ${at(1).replace('Z', '+00:00')}`), [FIRST]);
    assert.deepEqual(await listed(place, '--q \u00dc'), [FOURTH, THIRD, FIRST]);
    assert.deepEqual(await listed(place, '--q u --event push --limit 1'), [THIRD]);
    assert.deepEqual(await listed(place, '--q planted'), []);
    assert.deepEqual(await listed(place, '--where event=ping --where method=POST'), [SECOND]);
    const badCondition = await place.run(['request:list', '--where', 'event']);
    assert.deepEqual([badCondition.code, /write `payload/.test(badCondition.stderr)], [1, true]);
    const table = await place.run(['request:list', '--event', 'ping']);
    assert.match(table.stdout, /^ID +STATUS +EVENT .*\n\S+1 +done +ping +.*202\d-/);
    assert.equal((await place.run(['request:list', '--event', 'x'])).stdout, 'no requests\n');
    assert.equal((await place.run(['request:list', '--status', 'x'])).code, 2);
    const wrong = await place.run(['request:list', '--since', 'noon']);
    assert.deepEqual([wrong.code, /a span before now \(.*"noon"/.test(wrong.stderr)], [2, true]);
    assert.equal((await place.run(['request:list', '--until', '2020-01-31'])).stdout,
      'no requests\n');
    for (const command of ['request:list', 'request:replay --failed --dry-run']) {
      const unknown = await place.run([...command.split(' '), '--hook', 'hok']);
      assert.equal(unknown.code, 1, unknown.stdout);
      assert.match(unknown.stderr, /no incoming webhook "hok": did you mean `hook`\?/);
    }
  }, keepRequests));

  test(`a kept request is shown, its body and a call that repeats it, ${way}`, () =>
    inPlace(way, async (place) => {
      const shown = await place.run(['request:show', FIRST]);
      assert.match(shown.stdout, /^headers\.X-Hub-Signature-256 +\*\*\*$/m);
      assert.match(shown.stdout, /^answered\.status +400$/m);
      assert.equal((await place.json(['request:show', FIRST]))['event'], 'push');
      assert.ok((await printedBody(place, FIRST)).equals(BODY));
      assert.ok((await printedBody(place, SECOND)).equals(BINARY));
      assert.equal((await place.json(['request:show', SECOND, '--body']))['body'],
        BINARY.toString('base64'));
      assert.equal(shown.stderr, '');
      assert.ok(!('unparsed' in await place.json(['request:show', FIRST])));
      assert.match((await place.run(['request:show', SECOND])).stderr,
        /no payload could be made of its body, so that actions got \[\]: no bodyFormat fits it/);
      const unparsed = await place.run(['request:show', THIRD]);
      assert.match(unparsed.stdout, /^unparsed +true\nfittingBodyFormat +text$/m);
      assert.ok(unparsed.stderr.endsWith(`incomingwebhook:update ${HOOK} --body-format text\n`));
      const { stdout } = await place.run(['request:show', FIRST, '--curl']);
      assert.match(stdout, /'http:\/\/localhost:\d+\/webhook\/in\/hook\?a=1&token='"\$TOKEN"/);
      assert.match(stdout, /--data-raw '\{"it'\\''s": "ü"\}'/);
      assert.match(stdout, /^X-Hub-Signature-256: \$X_HUB_SIGNATURE_256$/m);
      assert.match((await place.run(['request:show', FOURTH])).stderr, new RegExp(
        `no route took it, and hookshelf incomingwebhook:match --request ${FOURTH} says why\n$`));
      const ofNone = await place.run(['request:show', FOURTH, '--curl']);
      assert.match(ofNone.stderr, /its webhook was removed/);
      const [base] = /http:\/\/localhost:\d+\//.exec(stdout) ?? [];
      assert.ok(base !== undefined && ofNone.stdout.includes(base), ofNone.stdout);
      assert.equal(`${(await place.json(['request:show', FIRST, '--curl']))['curl']}\n`, stdout);
      for (const output of [shown.stdout, stdout]) assert.ok(!output.includes('planted'));
      assert.equal((await place.run(['request:show', FIRST, '--curl', '--body'])).code, 2);
      assert.equal((await place.run(['request:show', 'none'])).code, 1);
    }, keepRequests));

  test(`kept requests are pinned, replayed, deleted and counted, ${way}`, () =>
    inPlace(way, async (place) => {
      assert.equal((await place.run(['request:pin', FIRST])).stdout, `pinned request ${FIRST}\n`);
      assert.equal((await place.json(['request:show', FIRST]))['pinned'], true);
      assert.equal((await place.json(['request:unpin', FIRST]))['pinned'], false);
      assert.equal((await place.run(['request:replay', FIRST])).stdout,
        `request ${FIRST} will be run again\n`);
      const made = await place.json(
        ['request:replay', SECOND, '--as', 'new', '--routes', 'default']);
      assert.deepEqual([made['replayOf'], made['status']], [SECOND, 'pending']);
      const wrong = await place.run(['request:replay', FIRST, '--routes', 'default, other']);
      assert.match(wrong.stderr, /\/routes\/1: is no route of the webhook/);
      const gone = await place.run(['request:replay', FOURTH]);
      assert.deepEqual([gone.code, /is gone/.test(gone.stderr)], [1, true]);
      const pending = await place.run(['request:delete', THIRD]);
      assert.deepEqual([pending.code, /is pending/.test(pending.stderr)], [1, true]);
      assert.deepEqual(await place.json(['request:delete', SECOND]),
        { id: SECOND, deleted: true });
      assert.deepEqual(await listed(place, ''), [made['id'], FOURTH, THIRD, FIRST]);
      const { isReconciled, accepted, deleted } = await place.json(['request:reconcile']);
      assert.deepEqual([isReconciled, accepted, deleted], [true, 5, 1]);
    }, keepRequests));
}

// A job begins when a server runs.
for (const way of ALL_WAYS) {
  test(`kept requests are replayed in bulk, ${way}`, () => inPlace(way, async (place) => {
    const isServed = way !== 'without a server';
    const ran = (words: string) => place.run(['request:replay', ...words.split(' ')]);
    assert.equal((await ran('--hook hook --dry-run')).stdout, 'would replay 3 requests\n');
    assert.equal((await ran(`--failed --since ${at(1)} --dry-run`)).stdout,
      'would replay 0 requests\n');
    const asked = await ran('--failed --hook hook --as new');
    const [, id = ''] = /^job (\S+): replay 1 request\n$/.exec(asked.stdout) ?? [];
    assert.equal(/no server is running/.test(asked.stderr), !isServed);
    assert.equal((await place.json(['job:show', id]))['total'], 1);
    assert.match((await place.run(['job:list'])).stdout,
      new RegExp(`^\\S*${id.slice(-12)} +request-replay +(running|done) +202.* 1 `, 'm'));
    // Of one kind, one job runs at a time.
    if (isServed) {
      await until('the first job is done', async () =>
        (await place.json(['job:show', id]))['status'] === 'done');
    }
    const waited = await ran(`--hook ${GONE_HOOK} --wait`);
    if (isServed) {
      assert.match(waited.stdout, /^job \S+ is done: 0 of 1 done, 1 failed\n$/);
      assert.equal(waited.code, 1);
      assert.match((await place.run(['job:cancel', id])).stdout, /^too late for job .*: 1 of 1/);
    } else {
      assert.deepEqual([waited.code, /needs a server/.test(waited.stderr)], [2, true]);
      const second = await ran('--failed');
      assert.deepEqual([second.code, /runs already/.test(second.stderr)], [1, true]);
      assert.match((await place.run(['job:cancel', id])).stdout, /^cancelled job .*: 0 of 1/);
    }
    const wrong = ['--dry-run', '--as new', `${FIRST} --failed`, '--failed --routes default',
      '--failed --status done', '--status nope'];
    for (const words of wrong) assert.equal((await ran(words)).code, 2, words);
  }, keepRequests));
}
