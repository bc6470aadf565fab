import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPlace } from '../place.ts';

const ROUTES = [{
  name: 'pushes', when: { path: 'event', op: 'eq', value: 'push' }, actionConfiguration: 'to-log',
}];

test('routes and what is kept are given by options, and changed', () =>
  inPlace('through a server', async (place) => {
    await place.json(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
    const file = join(place.folder, 'routes.json');
    writeFileSync(file, JSON.stringify(ROUTES));
    const made = await place.json(['incomingwebhook:create', '--path-segment', 'in',
      '--routes', `@${file}`, '--inbox', 'all', '--answer', 'accepted',
      '--deduplicate', 'header:X-Id', '--deduplicate-hours', '5',
      '--retry-schedule', '1,2']);
    const { routes, inbox, answer, deduplicate, deduplicateHours, retrySchedule } = made;
    assert.deepEqual({ routes, inbox, answer, deduplicate, deduplicateHours, retrySchedule }, {
      routes: ROUTES, inbox: 'all', answer: 'accepted', deduplicate: { header: 'X-Id' },
      deduplicateHours: 5, retrySchedule: [1, 2],
    });
    assert.match((await place.run(['incomingwebhook:list'])).stdout, /in +healthy +\S+ .*to-log$/m);
    const update = ['incomingwebhook:update', '--id', 'in'];
    const other = await place.json([...update, '--deduplicate', 'json:data.id']);
    assert.deepEqual(other['deduplicate'], { json: 'data.id' });
    // As the API, the manual and what is said of a wrong one have it.
    const asJson = await place.json([...update, '--deduplicate', '{"header": "X-Other"}']);
    assert.deepEqual(asJson['deduplicate'], { header: 'X-Other' });
    assert.equal((await place.run([...update, '--deduplicate', '{"header'])).code, 2);
    const limited = await place.json([...update, '--rate-limit', '2.5', '--max-concurrent', '3',
      '--action-timeout', '0.5', '--max-in-flight', '4']);
    assert.deepEqual([limited['rateLimit'], limited['maxConcurrent'], limited['actionTimeout'],
      limited['maxInFlight']], [2.5, 3, 0.5, 4]);
    const unlimited = await place.json([...update, '--unset', 'rate-limit', '--unset',
      'max-concurrent', '--unset', 'action-timeout', '--unset', 'max-in-flight']);
    assert.equal('maxInFlight' in unlimited || 'rateLimit' in unlimited, false);
    const single = await place.json([...update, '--action-config', 'to-log', '--answer',
      'result', '--deduplicate', 'off']);
    assert.deepEqual([single['routes'], single['actionConfiguration'], single['deduplicate']],
      [undefined, 'to-log', 'off']);
    const routed = await place.json([...update, '--routes', JSON.stringify(ROUTES)]);
    assert.deepEqual([routed['routes'], routed['actionConfiguration']], [ROUTES, undefined]);
  }));

test('match says which routes would run, and what is false', () =>
  inPlace('through a server', async (place) => {
    await place.json(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
    await place.json(['incomingwebhook:create', '--path-segment', 'in', '--routes',
      JSON.stringify(ROUTES)]);
    const match = ['incomingwebhook:match', 'in', '--payload', '{"a":1}'];
    const pushed = await place.run([...match, '--event', 'push']);
    assert.equal(pushed.code, 0, pushed.stderr);
    assert.match(pushed.stdout, /^pushes +yes +- +-$/m);
    const other = await place.run([...match, '--event', 'star']);
    assert.equal(other.code, 1);
    assert.match(other.stdout,
      /^pushes +no +\/routes\/0\/when +event is "star", wanted: eq "push"$/m);
    const told = await place.json([...match, '--event', 'push', '--header', 'A: b', '--query',
      'q=1', '--method', 'PUT']);
    assert.deepEqual(told['routes'], [{ name: 'pushes', matches: true, failed: [] }]);
    const beside = await place.run(
      ['incomingwebhook:match', 'in', '--request', 'x', '--event', 'y']);
    assert.deepEqual([beside.code, /--event stands beside --payload/.test(beside.stderr)],
      [2, true]);
    const neither = await place.run(['incomingwebhook:match', 'in']);
    assert.deepEqual([neither.code, /needs --request or --payload/.test(neither.stderr)],
      [2, true]);
    const gone = await place.run(['incomingwebhook:match', 'in', '--request', 'none']);
    assert.deepEqual([gone.code, /no request/.test(gone.stderr)], [1, true]);
  }));

const WRONG: readonly (readonly [readonly string[], number, RegExp])[] = [
  [[], 2, /needs --action-config or --routes/],
  [['--action-config', 'a', '--routes', '[]'], 2, /--action-config or --routes, not both/],
  [['--routes', '{}'], 2, /--routes is not a JSON array/],
  [['--routes', '[{"name":"a","actionConfiguration":"to-log","when":{"path":"body"}}]'], 1,
    /\/routes\/0\/when\/op/],
  [['--action-config', 'a', '--deduplicate-hours', 'x'], 2, /an integer from 1 to 720, not "x"/],
  [['--action-config', 'to-log', '--deduplicate', 'body:x'], 1, /\/deduplicate: must be auto/],
  [['--action-config', 'to-log', '--inbox', 'some'], 2, /off, failed/],
  [['--action-config', 'to-log', '--answer', 'accepted'], 1, /needs the inbox all/],
];

test('wrong routes are refused with what is wrong', () =>
  inPlace('without a server', async (place) => {
    await place.json(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
    for (const [words, code, message] of WRONG) {
      const { code: given, stderr } = await place.run(
        ['incomingwebhook:create', '--path-segment', 'in', ...words]);
      assert.equal(given, code, stderr);
      assert.match(stderr, message);
    }
  }));

test('a verification that is given takes the place of the one before, to its depth', () =>
  inPlace('through a server', async (place) => {
    await place.json(['actionconfig:create', '--action', 'log', '--identifier', 'to-log']);
    const scheme = {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: { header: 'X-S' }, encoding: 'hex' },
    };
    const timed = { ...scheme, timestamp: { from: { header: 'X-T' }, unit: 's' } };
    const custom = (given: object): string[] =>
      ['--preset', 'custom', '--verification', JSON.stringify({ scheme: given })];
    await place.json(['incomingwebhook:create', '--path-segment', 'in', '--action-config',
      'to-log', '--generate-secret', ...custom(timed)]);
    const { verification } = await place.json(['incomingwebhook:update', 'in', ...custom(scheme)]);
    assert.deepEqual(verification, { preset: 'custom', scheme });
  }));
