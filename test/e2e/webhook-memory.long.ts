/** `--max-memory` holds for the process, whatever senders post to a webhook of many routes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { startServer, type Running } from './processes.ts';

const TIMEOUT = { timeout: 300_000 };
const RATIO_MAX = 2.5;
const MEBIBYTE = 1 << 20;
const PHASE_MS = 6000;

/** Of a megabyte, which takes thirty as a payload, and two. */
const BODIES = {
  objects: `{"a":[${'{},'.repeat(333_000)}0]}`,
  texts: `{"a":[${`"${'a'.repeat(28)}",`.repeat(32_000)}0]}`,
};

type Phase = {
  readonly path: string;
  readonly body: keyof typeof BODIES;
  /** Whether one at least succeeds: it fits by itself. */
  readonly mustSucceed: boolean;
};

test('64 MB, 4 senders', TIMEOUT, () => sendTo(64, 4, [
  { path: 'unheard', body: 'objects', mustSucceed: true },
  { path: 'unheard', body: 'texts', mustSucceed: true },
  // Ten events of a megabyte each never fit into an eighth of 64 MB.
  { path: 'heard', body: 'objects', mustSucceed: false },
  { path: 'few', body: 'texts', mustSucceed: true },
  { path: 'later', body: 'objects', mustSucceed: true },
]));

test('128 MB, 16 senders', TIMEOUT, () => sendTo(128, 16, [
  { path: 'unheard', body: 'objects', mustSucceed: true },
  { path: 'heard', body: 'texts', mustSucceed: true },
  { path: 'later', body: 'objects', mustSucceed: true },
]));

test('256 MB, 40 senders', TIMEOUT, () => sendTo(256, 40, [
  { path: 'unheard', body: 'texts', mustSucceed: true },
  { path: 'heard', body: 'objects', mustSucceed: true },
  { path: 'later', body: 'objects', mustSucceed: true },
]));

async function sendTo(
  megabytes: number, senders: number, phases: readonly Phase[],
): Promise<void> {
  await inFolder(async (data) => {
    const server = await serve(data, megabytes);
    const peak = watchMemory(server);
    for (const { path, body, mustSucceed } of phases) {
      const answers = await send(`${server.url}/webhook/in/${path}`, BODIES[body], senders);
      const text = `${path}, ${body}: ${JSON.stringify(Object.fromEntries(answers))}`;
      assert.equal(server.child.exitCode, null, `${text} ${server.stderr()}`);
      assert.deepEqual([...answers.keys()].filter((key) => !/^(200|503 )/.test(key)), [], text);
      assert.equal(answers.has('200'), mustSucceed, text);
      if (!mustSucceed) assert.match(text, /Never fits.*outgoing\.maxPendingBytes/);
    }
    const ratio = peak.stop() / (megabytes * MEBIBYTE);
    assert.ok(ratio < RATIO_MAX, `the process took ${ratio.toFixed(2)} times --max-memory`);
    assert.equal((await server.stop()).code, 0);
  });
}

/** Three webhooks of ten `log` and ten `emit-event` routes, and one of fewer. */
async function serve(data: string, megabytes: number): Promise<Running> {
  const server = await startServer(['--data', data, '--max-memory', String(megabytes)], {
    program: [process.execPath, PROGRAM],
  });
  const add = (path: string, body: object): Promise<string> =>
    addRecord(`${server.url}/api/${path}`, body);
  await add('action-configurations', { identifier: 'log', actionType: 'log', options: {} });
  for (const name of ['heard', 'unheard']) {
    await add('action-configurations',
      { identifier: name, actionType: 'emit-event', options: { name: `thing.${name}` } });
  }
  // Nobody listens there.
  await add('outgoing-webhooks', { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'thing.heard' });
  const routes = (event: string, count: number): object[] =>
    Array.from({ length: 2 * count }, (_, index) => ({
      name: `r${index}`, actionConfiguration: index < count ? 'log' : event,
    }));
  await add('incoming-webhooks', { pathSegment: 'unheard', routes: routes('unheard', 10) });
  await add('incoming-webhooks', { pathSegment: 'heard', routes: routes('heard', 10) });
  await add('incoming-webhooks', { pathSegment: 'few', routes: routes('heard', 3) });
  await add('incoming-webhooks', {
    pathSegment: 'later', routes: routes('heard', 10), answer: 'accepted', inbox: 'all',
  });
  return server;
}

/** Counts the answers by status, and 503 by message. */
async function send(
  url: string, raw: string, senders: number,
): Promise<ReadonlyMap<string, number>> {
  const answers = new Map<string, number>();
  const endMs = performance.now() + PHASE_MS;
  await Promise.all(Array.from({ length: senders }, async () => {
    while (performance.now() < endMs) {
      const { status, text } = await ask(url, { method: 'POST', raw });
      const key = status === 200 ? '200' : `${status} ${text.slice(0, 300)}`;
      answers.set(key, (answers.get(key) ?? 0) + 1);
    }
  }));
  return answers;
}

/** Looks every 50 ms at the anonymous memory of the server, or of the process that it started. */
function watchMemory({ child }: Running): { stop(): number } {
  const pid = String(child.pid);
  let peak = 0;
  const look = (): void => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ');
    for (const id of [pid, ...children].filter((text) => text !== '')) {
      peak = Math.max(peak, readAnonymousBytes(id));
    }
  };
  const timer = setInterval(look, 50);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

function readAnonymousBytes(pid: string): number {
  const [, kibibytes = '0'] =
    /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1024;
}
