/** Records are named by an identifier, or an end of one that no other has, and by a whole name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { findOwner } from '../../../src/cli/api-client/local-app.ts';
import { openApiClient } from '../../../src/cli/api-client/open-api-client.ts';
import type { ApiClient } from '../../../src/cli/api-client/api-client.ts';
import { WAYS, inPlace } from '../place.ts';
import type { Place } from '../place.ts';

const IDS = [
  '019b76da-a800-7e30-b965-6d04b8000001', '019b76da-a800-7e30-b965-6d04b8000002',
  '019c76da-a800-7e30-b965-6d04b8000013', 'aaaaaaaa-a800-7e30-b965-6d04b8aaaaaa',
];

async function importBooks(place: Place): Promise<void> {
  const input = IDS.map((id, index) => JSON.stringify({ id, title: `Book ${index}` })).join('\n');
  const words = ['book:import', '--file', '-', '--format', 'jsonl'];
  assert.equal((await place.run(words, { input })).stdout,
    'imported 4, updated 0, unchanged 0, skipped 0\n');
}

async function made(place: Place, words: readonly string[]): Promise<string> {
  return String((await place.json(words))['identifier']);
}

for (const way of WAYS) {
  test(`a book is named by a beginning or end that no other has, ${way}`, () =>
    inPlace(way, async (place) => {
      await importBooks(place);
      for (const [part, title] of [
        [IDS[0], 'Book 0'], ['019c', 'Book 2'], ['01', null], ['0001', 'Book 0'],
        ['…b8000002', 'Book 1'], ['019c76da…', 'Book 2'], ['aaa', 'Book 3'], ['76da', null],
      ] as const) {
        for (const words of [['book:show', part ?? ''], ['book:show', '--id', part ?? '']]) {
          const { code, stdout } = await place.run(words);
          assert.equal(code, title === null ? 1 : 0, part);
          if (title !== null) assert.match(stdout, new RegExp(`^title +${title}$`, 'm'));
        }
      }
      const several = await place.run(['book:delete', '019b']);
      assert.equal(several.code, 1);
      assert.equal(several.stderr, 'hookshelf: several books begin or end with "019b": '
        + `${IDS[0]}, ${IDS[1]}; give more of the one that you mean\n`);
      const none = await place.run(['book:delete', 'nope']);
      assert.match(none.stderr, /^hookshelf: there is no book "nope"\n$/);
      const updated = await place.run(['book:update', '0013', '--input', '{"title":"Emma"}']);
      assert.equal(updated.stdout, `updated book ${IDS[2]}: Emma\n`);
      assert.equal((await place.run(['book:delete', '0013'])).stdout, `deleted book ${IDS[2]}\n`);
      assert.equal((await place.json<unknown[]>(['book:list'])).length, 3);
    }));

  test(`names are whole, and identifiers may be abbreviated in all commands, ${way}`, () =>
    inPlace(way, async (place) => {
      const succeeds = async (words: readonly string[], shown: string): Promise<void> => {
        const { code, stdout, stderr } = await place.run(words);
        assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
        assert.ok(stdout.includes(shown), `${words.join(' ')}: ${stdout}`);
      };
      await made(place, ['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
      await succeeds(['actionconfig:update', 'to-log', '--options', '{"level":"debug"}'], 'to-log');
      const hook = await made(place, [
        'incomingwebhook:create', '--path-segment', 'deploy-site', '--action-config', 'to-log',
      ]);
      for (const part of [hook, 'deploy-site', hook.slice(-12)]) {
        await succeeds(['incomingwebhook:show', part], hook);
      }
      for (const verb of ['disable', 'enable']) {
        await succeeds([`incomingwebhook:${verb}`, 'deploy-site'], hook);
      }
      await succeeds(['incomingwebhook:update', hook.slice(-12), '--allowed-methods', 'PUT'], hook);
      await succeeds(['incomingwebhook:delete', 'deploy-site'], hook);
      await succeeds(['actionconfig:delete', 'to-log'], 'to-log');
      const target = await made(place, [
        'outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9', '--trigger-event', 'a.b',
      ]);
      const end = target.slice(-12);
      await succeeds(['outgoingwebhook:show', end], target);
      await succeeds(['outgoingwebhook:update', end, '--http-method', 'PUT'], target);
      const { deliveries: [delivery = ''] } = await place.json<{ deliveries: string[] }>(
        ['event:emit', '--name', 'a.b', '--payload', '1']);
      await succeeds(['delivery:show', delivery.slice(-12)], delivery);
      await succeeds(['delivery:list', '--hook', end, '--json'], delivery);
      await succeeds(['delivery:retry', delivery.slice(-12)], delivery);
      await succeeds(['delivery:cancel', delivery.slice(-12)], delivery);
      for (const verb of ['disable', 'enable', 'delete']) {
        await succeeds([`outgoingwebhook:${verb}`, end], target);
      }
      const token = await made(place, ['token:create', '--name', 'ci', '--scope', 'read']);
      await succeeds(['token:revoke', token.slice(-12)], token);
    }));
}

test('no command takes a part of a name, and each says which name is near', () =>
  inPlace('without a server', async (place) => {
    await made(place, ['actionconfig:create', '--action', 'log', '--identifier', 'acme-log']);
    await made(place, ['incomingwebhook:create', '--name', 'acme-in', '--path-segment', 'acme.in',
      '--action-config', 'acme-log']);
    const target = ['--target-url', 'http://127.0.0.1:9', '--trigger-event', 'a.b'];
    await made(place, ['outgoingwebhook:create', '--name', 'acme-labs', ...target]);
    for (const [group, noun, name, nearName] of [
      ['actionconfig', 'action configuration', 'acme', 'acme-log'],
      ['actionconfig', 'action configuration', 'me-log', 'acme-log'],
      ['incomingwebhook', 'incoming webhook', 'acme', 'acme-in'],
      ['incomingwebhook', 'incoming webhook', 'cme.in', 'acme.in'],
      ['outgoingwebhook', 'outgoing webhook', 'acme', 'acme-labs'],
      ['outgoingwebhook', 'outgoing webhook', 'Acme-Labs', 'acme-labs'],
    ] as const) {
      for (const verb of ['show', 'delete']) {
        const { code, stderr } = await place.run([`${group}:${verb}`, name]);
        assert.deepEqual([code, stderr], [1,
          `hookshelf: there is no ${noun} "${name}": did you mean \`${nearName}\`?\n`]);
      }
    }
    for (const command of ['delivery:list', 'event:list']) {
      const list = await place.run([command, '--hook', 'acme']);
      assert.match(list.stderr, /no outgoing webhook "acme": did you mean `acme-labs`\?/);
    }
    const unlike = await place.run(['actionconfig:delete', 'zzz']);
    assert.equal(unlike.stderr,
      'hookshelf: there is no action configuration "zzz"; see hookshelf actionconfig:list\n');
  }));

test('names nine of many that match', () => inPlace('without a server', async (place) => {
  const input = Array.from({ length: 12 }, (_, index) => JSON.stringify({
    id: `019b76da-a800-7e30-b965-6d04b80000${String(index).padStart(2, '0')}`, title: 'One',
  })).join('\n');
  await place.run(['book:import', '--file', '-', '--format', 'jsonl'], { input });
  const { stderr } = await place.run(['book:show', '019b']);
  assert.equal(stderr.match(/019b76da/g)?.length, 9);
  assert.match(stderr, /, …; give more/);
}));

test('the API finds identifiers of its resources by a part, and none of tokens', () =>
  inPlace('through a server', async (place) => {
    await importBooks(place);
    const session = await openSessionOf(place);
    const { body } = await session.request(
      { method: 'GET', path: '/api/identifiers/books?part=019b' });
    assert.deepEqual(body, IDS.slice(0, 2));
    for (const collection of ['tokens', 'event-receivers', 'fan-outs', 'nothing']) {
      const path = `/api/identifiers/${collection}?part=0`;
      await assert.rejects(session.request({ method: 'GET', path }),
        new RegExp(`there is no collection "${collection}"`));
    }
  }));

test('the API finds identifiers of events, and none of forwards', () =>
  inPlace('through a server', async (place) => {
    await made(place, ['actionconfig:create', '--action', 'http-forward', '--identifier', 'on',
      '--options', '{"url":"http://127.0.0.1:1/","mode":"queue"}']);
    await made(place, ['incomingwebhook:create', '--action-config', 'on', '--path-segment', 'in']);
    const session = await openSessionOf(place);
    const find = async (collection: string): Promise<unknown> => (await session.request(
      { method: 'GET', path: `/api/identifiers/${collection}?part=0` })).body;
    await session.request({ method: 'POST', path: '/webhook/in/in', body: {} });
    const forwards = await find('deliveries');
    assert.ok(Array.isArray(forwards) && forwards.length === 1, String(forwards));
    assert.deepEqual(await find('events'), []);
    await made(place, ['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/',
      '--trigger-event', 'thing.*']);
    const { event } = await place.json(
      ['event:emit', '--name', 'thing.made', '--payload', '{}']);
    assert.deepEqual(await find('events'), [event]);
  }));

function openSessionOf({ data }: Place): Promise<ApiClient> {
  return openApiClient({
    clock: systemClock, findOwner: () => findOwner(data),
    openLocalApp: () => Promise.reject(new Error('a server holds the directory')),
  });
}
