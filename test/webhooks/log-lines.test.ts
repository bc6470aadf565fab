/** One rule for both directions: what succeeds is a line at `debug`, what fails at `warning`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, startServer, type ScriptedServer } from '../support/servers.ts';
import { turnsUntil } from '../support/turns.ts';
import { startRelay, type Relay } from './relay.ts';

type Line = Readonly<Record<string, unknown>>;

const LONG = { timeout: 120_000 };
const UUID = /^[-0-9a-f]{36}$/;

let relay: Relay;
let target: ScriptedServer;
before(async () => {
  target = await startServer({
    onRequest: ({ head, socket }) => void socket.write(
      head.startsWith('POST /down') ? answer(503) : answer()),
  });
  relay = await startRelay();
  relay.webhooks.start();
});
after(async () => {
  await relay.close();
  await target.close();
});

/** With a credential where one may stand. */
function urlOf(path: string): string {
  return `${target.url(path).replace('//', '//me:planted@')}?token=planted`;
}

function labelOf(path: string): string {
  return target.url(path).replace('http://', '');
}

/** The one line of that message since `from`, once it is there. */
async function lineSince(from: number, message: string): Promise<Line> {
  const lines = (): Line[] => relay.logLines.slice(from)
    .map((line): Line => JSON.parse(line)).filter((line) => line['message'] === message);
  await turnsUntil(() => lines().length > 0);
  const [line = {}, ...others] = lines();
  assert.deepEqual(others, []);
  assert.ok(!relay.logLines.some((text) => text.includes('planted')));
  return line;
}

function warningsSince(from: number): string[] {
  return relay.logLines.slice(from).filter((line) => line.includes('"level":"warning"'));
}

const ENDS = [['/up', 'debug', 200], ['/down', 'warning', 503]] as const;

for (const [path, level, statusCode] of ENDS) {
  test(`an attempt of a delivery to ${path} is a line at ${level}`, LONG, async () => {
    const { json } = await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: urlOf(path), triggerEvent: `to ${path}` });
    const from = relay.logLines.length;
    await relay.ask('POST', '/api/events', { name: `to ${path}` });
    const line = await lineSince(from, 'a delivery was attempted');
    assert.deepEqual(
      ['level', 'hook', 'webhook', 'target', 'event', 'statusCode', 'error', 'attempt']
        .map((name) => line[name]),
      [level, json['identifier'], json['identifier'], labelOf(path), `to ${path}`, statusCode, null,
        1]);
    assert.equal(typeof line['nextAttemptAt'], path === '/up' ? 'object' : 'string');
  });

  test(`a sending by hand to ${path} is a line at ${level}`, async () => {
    const { json } = await relay.ask('POST', '/api/outgoing-webhooks', { targetUrl: urlOf(path) });
    const { identifier } = json;
    const from = relay.logLines.length;
    await relay.ask('POST', `/api/outgoing-webhooks/${String(identifier)}/send`, {});
    const line = await lineSince(from, 'an outgoing webhook was sent');
    assert.deepEqual(['level', 'hook', 'target', 'statusCode'].map((name) => line[name]),
      [level, identifier, labelOf(path), statusCode]);
  });

  test(`a run that a sender waits for, to ${path}, is a line at ${level}`, async () => {
    const pathSegment = `now-${level}`;
    const { json } = await relay.hook(
      { identifier: pathSegment, actionType: 'http-forward', options: { url: urlOf(path) } },
      { pathSegment });
    const from = relay.logLines.length;
    await relay.ask('POST', `/webhook/in/${pathSegment}`, {}, { 'X-Request-Id': pathSegment });
    const line = await lineSince(from, 'the action of an incoming webhook was run');
    assert.deepEqual(
      ['level', 'requestId', 'hook', 'webhook', 'route', 'action', 'attempt']
        .map((name) => line[name]),
      [level, pathSegment, json['identifier'], pathSegment, 'default', pathSegment, 1]);
    if (level !== 'warning') return;
    assert.deepEqual([line['target'], line['statusCode'], line['result']],
      [labelOf(path), statusCode, 'The upstream answered 503']);
    assert.equal(warningsSince(from).length, 1);
  });

  test(`a run of a stored request, to ${path}, is a line at ${level}`, LONG, async () => {
    const pathSegment = `later-${level}`;
    const { json } = await relay.hook(
      { identifier: pathSegment, actionType: 'http-forward', options: { url: urlOf(path) } },
      { pathSegment, inbox: 'all', answer: 'accepted' });
    const from = relay.logLines.length;
    await relay.ask('POST', `/webhook/in/${pathSegment}`, {});
    const line = await lineSince(from, 'a stored request was run');
    assert.deepEqual(
      ['level', 'hook', 'webhook', 'route', 'action', 'attempt', 'status']
        .map((name) => line[name]),
      [level, json['identifier'], pathSegment, 'default', pathSegment, 1,
        level === 'debug' ? 'done' : 'pending']);
    assert.match(String(line['request']), UUID);
    if (level !== 'warning') return;
    assert.deepEqual([line['target'], line['statusCode']], [labelOf(path), statusCode]);
    assert.match(String(line['nextAttemptAt']), /^\d{4}-/);
    assert.equal(warningsSince(from).length, 1);
  });
}

test('while a webhook fails, attempts that are repeated are no warnings', LONG, async () => {
  await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: urlOf('/down'), triggerEvent: 'often' });
  const from = relay.logLines.length;
  const attempts = (): Line[] => relay.logLines.slice(from)
    .map((line): Line => JSON.parse(line)).filter((line) => line['event'] === 'often');
  for (let count = 1; count <= 4; count += 1) {
    await relay.ask('POST', '/api/events', { name: 'often' });
    await turnsUntil(() => attempts().length === count);
  }
  assert.deepEqual(attempts().map(({ level }) => level),
    ['warning', 'warning', 'debug', 'debug']);
  assert.equal(warningsSince(from).filter((line) => line.includes('a webhook fails')).length, 1);
});

test('a forward from the queue that fails names its target', LONG, async () => {
  await relay.hook({ actionType: 'http-forward', options: { url: urlOf('/down'), mode: 'queue' } },
    { pathSegment: 'queued' });
  const from = relay.logLines.length;
  await relay.ask('POST', '/webhook/in/queued', {});
  const line = await lineSince(from, 'a delivery was attempted');
  assert.deepEqual([line['level'], line['hook'], line['target'], line['statusCode']],
    ['warning', null, labelOf('/down'), 503]);
});

test('each of several routes has a line of its own', async () => {
  for (const [identifier, path] of [['first', '/up'], ['second', '/down']]) {
    await relay.ask('POST', '/api/action-configurations',
      { identifier, actionType: 'http-forward', options: { url: urlOf(String(path)) } });
  }
  const routes = ['first', 'second'].map((name) => ({ name, actionConfiguration: name }));
  await relay.ask('POST', '/api/incoming-webhooks', { pathSegment: 'both', routes });
  const from = relay.logLines.length;
  assert.equal((await relay.ask('POST', '/webhook/in/both', {})).status, 400);
  const lines = relay.logLines.slice(from).map((line): Line => JSON.parse(line))
    .filter(({ message }) => message === 'the action of an incoming webhook was run');
  assert.deepEqual(lines.map(({ level, webhook, route }) => [level, webhook, route]),
    [['debug', 'both', 'first'], ['warning', 'both', 'second']]);
});
