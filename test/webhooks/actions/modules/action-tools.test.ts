/** What modules log and send through the worker, beside the same class in this thread. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createLogger, createTaggedLogger, silentLogger } from '../../../../src/base/log.ts';
import type { HttpRequest } from '../../../../src/client/http-client.ts';
import {
  createActionRegistry, type ActionRegistry, type ActionSource,
} from '../../../../src/webhooks/actions/action-registry.ts';
import { loadActionModules } from '../../../../src/webhooks/actions/modules/load-action-modules.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { createCall } from './action-calls.ts';

const root = createTemporaryFolder();
const folder = join(root, 'actions');
const file = join(folder, 'tools.mjs');
mkdirSync(folder, { mode: 0o700 });
writeFileSync(file, `
import { getEventListeners } from 'node:events';
const circle = { text: 'p', call() {} };
for (let n = 0; n < 10; n += 1) circle['self' + n] = circle;
const BODIES = {
  values: ({ log }) => log.info('m', { date: new Date(0), big: 1n, bytes: Buffer.from('pp') }),
  functions: ({ log }) => log.info('m', {
    call() {}, date: new Date(0), bytes: Buffer.from('pp'), error: new Error('e'),
    nested: { error: new TypeError('n'), call() {}, list: [1, 'p', null] },
  }),
  circles: ({ log }) => log.info('m', { circle: { ...circle, self0: null }.text, call() {} }),
  messages: ({ log }) => log.warning({ text: 'p', token: 'p' }),
  errors: ({ log }) => log.error(Object.assign(new Error('e'), { code: 'E' })),
  nothing: ({ log }) => log.info('m', null),
  secrets: ({ log }) => log.info('m', { token: 'p', call() {}, url: 'http://p:p@host/' }),
  wide: ({ log }) => log.info('m', { circle }),
  late: ({ log, http }) => void setTimeout(() => {
    log.info('late');
    http.request({ method: 'GET', url: 'http://host/' }).then(({ statusCode }) =>
      log.info('got', { statusCode }));
  }, 20),
  sends: ({ http }) => http.request({ method: 'GET', url: 'http://host/sends' }),
  signals: async ({ log, http }) => {
    const controller = new AbortController();
    const { signal } = controller;
    await http.request({ method: 'GET', url: 'http://host/', signal });
    const listeners = getEventListeners(signal, 'abort').length;
    const request = http.request({ method: 'GET', url: 'http://host/hangs', signal });
    controller.abort();
    log.info('m', { listeners, reason: await request.catch(({ message }) => message) });
  },
  hostile: () => { throw new Proxy({}, { has() { throw new Error('has'); } }); },
};
export default class {
  static identifier() { return 'tools'; }
  static label() { return 'Tools'; }
  async execute({ body }, context, options, tools) {
    await BODIES[body](tools);
    return tools.ActionResult.ok();
  }
}`, { mode: 0o600 });

/** The lines of the log of the service, which gets what comes after a run has ended. */
const lateLines: string[] = [];
const serviceLog = createLogger({
  level: 'debug', format: 'json', now: () => 0, write: (line) => void lateLines.push(line),
});
const sentHeaders: unknown[] = [];
const http = {
  async request({ headers, url, signal }: HttpRequest) {
    sentHeaders.push(headers);
    while (String(url).endsWith('/hangs') && signal?.aborted === false) await once(signal, 'abort');
    if (signal?.aborted === true) throw new Error('aborted');
    return { statusCode: 204, headers: {}, body: Buffer.alloc(0) };
  },
};
const TRACE = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1',
};
const { sources, close } = await loadActionModules({
  folder, paths: [], log: serviceLog, callTimeoutMs: 30_000, memoryMiBMax: 128,
});
after(close);

function createRegistry(custom: readonly ActionSource[]): ActionRegistry {
  return createActionRegistry({ builtIn: [], custom, http, log: silentLogger });
}

const inWorker = createRegistry(sources);
const { default: actionClass } = await import(pathToFileURL(file).href);
const inThread = createRegistry([{ actionClass, origin: 'a test' }]);

/** Runs the body, and returns the list that gets its lines. */
async function run(registry: ActionRegistry, body: string): Promise<string[]> {
  const lines: string[] = [];
  const log = createLogger({
    level: 'debug', format: 'json', now: () => 0,
    // Stacks differ: the two run in different places.
    write: (line) => void lines.push(line.replaceAll(/\\*"stack\\*":\\*"(?:Type)?Error.*?"/g, '')),
  });
  const taggedLog = createTaggedLogger(log, { requestId: 'r1' });
  await registry.find('tools')?.run({ ...createCall({ body }, taggedLog), trace: TRACE });
  return lines;
}

for (const body of [
  'values', 'functions', 'circles', 'messages', 'errors', 'nothing', 'secrets', 'signals',
]) {
  test(`what a module logs reads as what a class logs (${body})`, async () => {
    const lines = await run(inWorker, body);
    assert.equal(lines.length, 1);
    assert.deepEqual(lines, await run(inThread, body));
  });
}

test('an object that holds itself many times and functions is logged, and cut', async () => {
  const [line = ''] = await run(inWorker, 'wide');
  assert.match(line, /"text":"p"/);
  assert.ok(line.length < 300_000);
});

test('what a module logs after its result has the tags of its run, and it may send', async () => {
  assert.deepEqual(await run(inWorker, 'late'), []);
  await until('the response is logged', () => lateLines.length === 2, { msMax: 10_000 });
  assert.match(lateLines.join(''),
    /"late","requestId":"r1"}\n.*"got","requestId":"r1","statusCode":204/);
});

test('what a module sends has the trace of its run, also after its result', async () => {
  sentHeaders.length = 0;
  await run(inWorker, 'sends');
  await run(inWorker, 'late');
  await until('both are sent', () => sentHeaders.length === 2, { msMax: 10_000 });
  const headers = { 'x-hookshelf-chain': '1', ...TRACE };
  assert.deepEqual(sentHeaders, [headers, headers]);
});

test('an error that cannot be read fails its run, and ends no worker', async () => {
  await assert.rejects(run(inWorker, 'hostile'), (thrown) =>
    thrown === 'an error that cannot be read');
});
