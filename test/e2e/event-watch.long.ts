/** `event:watch` against a real server: which events it prints, and how. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { hookshelf, startServer, watch, type Watching } from './processes.ts';

type EventWatching = Watching & {
  readonly lines: () => readonly string[];
  /** Resolves once that many lines have come. */
  until(count: number): Promise<void>;
};

async function watchEvents(words: readonly string[]): Promise<EventWatching> {
  const watching = await watch('event:watch', words);
  const { out, notes } = watching;
  const lines = (): readonly string[] => out().split('\n').slice(0, -1);
  return {
    ...watching, lines,
    until: (count) => until(`${count} lines have come`, () => lines().length >= count,
      { seen: () => out() + notes() }),
  };
}

async function emit(url: string, name: string, terms: object = {}): Promise<string> {
  const { status, text } = await ask(`${url}/api/events`,
    { method: 'POST', body: { name, payload: {}, ...terms } });
  assert.equal(status, 202, text);
  return JSON.parse(text).event;
}

test('prints a line for each event as it is made, or its JSON', () => inFolder(async (data) => {
  let server = await startServer(['--data', data]);
  const { port } = new URL(server.url);
  await addRecord(`${server.url}/api/outgoing-webhooks`,
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: '*', enabled: true });
  const people = await watchEvents(['--data', data]);
  const programs = await watchEvents(['--server', server.url, '--json']);
  const plain = await emit(server.url, 'order.paid');
  const keyed = await emit(server.url, 'order.sent', { key: 'k 1', delaySeconds: 3600 });
  await Promise.all([people.until(2), programs.until(2)]);
  await server.stop('SIGKILL');
  server = await startServer(['--data', data, '--port', port]);
  const late = await emit(server.url, 'order.late');
  await Promise.all([people.until(3), programs.until(3)]);
  const [first = '', second = '', third = ''] = people.lines();
  assert.match(first, /^\d\d:\d\d:\d\d {2}order\.paid {2}api {2}heard {2}[\w-]{36}$/);
  assert.match(second, /^\d\d:\d\d:\d\d {2}order\.sent {2}api {2}k 1 {2}not heard {2}[\w-]{36}$/);
  assert.deepEqual([first, second, third].map((line) => line.slice(-36)), [plain, keyed, late]);
  const shown = programs.lines().map((line) => JSON.parse(line));
  assert.deepEqual(shown.map(({ id, name, key, heard }) => [id, name, key, heard]), [
    [plain, 'order.paid', null, true], [keyed, 'order.sent', 'k 1', false],
    [late, 'order.late', null, true],
  ]);
  await Promise.all([people.stop(), programs.stop()]);
  await server.stop();
}));

test('--name leaves out all events but those of that name, or of names that begin so', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    await addRecord(`${server.url}/api/outgoing-webhooks`,
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: '*' });
    const all = await watchEvents(['--data', data, '--name', '*']);
    const below = await watchEvents(['--data', data, '--name', 'order.*']);
    const one = await watchEvents(['--data', data, '--name', 'order']);
    const ids: string[] = [];
    for (const name of ['orderly', 'order', 'order.paid', 'an.order.paid', 'order', 'order.x.y']) {
      ids.push(await emit(server.url, name));
    }
    // Each has its last line, so what it left out before will not come any more.
    await Promise.all([all.until(6), below.until(2), one.until(2)]);
    const idsOf = ({ lines }: EventWatching): readonly string[] =>
      lines().map((line) => line.slice(-36));
    assert.deepEqual(idsOf(all), ids);
    assert.deepEqual(idsOf(below), [ids[2], ids[5]]);
    assert.deepEqual(idsOf(one), [ids[1], ids[4]]);
    await Promise.all([all, below, one].map((watching) => watching.stop()));
    await server.stop();
  }));

test('needs a server, and a name that is one', () => inFolder(async (data) => {
  const alone = await hookshelf(['event:watch', '--data', data]);
  assert.equal(alone.code, 2);
  assert.match(alone.stderr, /no server runs: start one with hookshelf serve/);
  for (const name of ['order*', 'a,b', '.*.*']) {
    const wrong = await hookshelf(['event:watch', '--data', data, '--name', name]);
    assert.equal(wrong.code, 2, name);
    assert.match(wrong.stderr, /--name must be the name of an event such as book\.created/);
  }
}));
