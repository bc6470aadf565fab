/** Real servers with modules that loop, end their worker or do not load: they go on. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { someOf } from '../support/long.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';
import { Survivor, make } from './survivor.ts';

const NEVER = 'await new Promise(() => {});';

/** The bodies of `execute`, by the name of the module and of its action. */
const BODIES: Readonly<Record<string, string>> = {
  fine: 'return ActionResult.ok({ payload, isBuffer: Buffer.isBuffer(context.body) });',
  loop: 'for (;;);',
  exits: 'await null; process.exit(3);',
};

function moduleText(name: string, body: string, first = ''): string {
  return `${first}
export default class {
  static identifier() { return '${name}'; }
  static label() { return 'Planted'; }
  static validateOptions({ isLooping }) { while (isLooping); return []; }
  async execute(payload, context, options, { http, log, ActionResult }) { ${body} }
}`;
}

async function withModules(
  modules: Readonly<Record<string, string>>, use: (server: Survivor, data: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (data) => {
    writeModules(data, modules);
    writeFileSync(join(data, 'settings.json'), JSON.stringify({
      incoming: { actionTimeout: 1, retrySchedule: [0, 0] },
    }), { mode: 0o600 });
    const server = new Survivor(data, {});
    try {
      await server.start();
      for (const name of Object.keys(modules)) {
        await make(server, '/api/action-configurations', { identifier: name, actionType: name });
        await make(server, '/api/incoming-webhooks', {
          pathSegment: name, actionConfiguration: name, inbox: 'off',
        });
      }
      await use(server, data);
    } finally {
      await server.stop('SIGKILL');
    }
  });
}

function writeModules(data: string, modules: Readonly<Record<string, string>>): void {
  mkdirSync(join(data, 'actions'), { mode: 0o700 });
  for (const [name, body] of Object.entries(modules)) {
    writeFileSync(join(data, 'actions', `${name}.mjs`), moduleText(name, body), { mode: 0o600 });
  }
}

async function call(server: Survivor, name: string): Promise<string> {
  const { status, text } = await server.call(`/webhook/in/${name}`, '{"word":"p"}');
  return `${status} ${text}`;
}

const FINE =
  '200 {"success":true,"message":"","data":{"payload":{"word":"p"},"isBuffer":true}}';
const TIMED_OUT = '400 {"success":false,"message":"Action timed out","data":{}}';

/** Longer than the minute for which a module is switched off that could not be loaded again. */
const REPLACED_MS_MAX = 90_000;

async function untilReplaced(server: Survivor): Promise<void> {
  await until('the worker is replaced', async () => await call(server, 'fine') === FINE,
    { msMax: REPLACED_MS_MAX });
}

test('a module that loops three times within a minute is switched off, and others are not', () =>
  withModules({ fine: BODIES['fine'] ?? '', loop: BODIES['loop'] ?? '' }, async (server, data) => {
    for (let time = 0; time < 3; time += 1) {
      assert.equal(await call(server, 'loop'), TIMED_OUT);
      await untilReplaced(server);
    }
    const reply = await ask(`${server.url}/webhook/in/loop`, { method: 'POST' });
    assert.equal(reply.status, 503);
    assert.match(reply.text, /The action is switched off/);
    assert.match(String(reply.headers['retry-after']), /^\d+$/);
    const actions = await server.list<Record<string, unknown>>('/api/actions');
    const states = actions.filter(({ module }) => module !== null)
      .map(({ module, switchedOffUntil }) => [module, switchedOffUntil === null]);
    assert.deepEqual(states, [['fine.mjs', true], ['loop.mjs', false]]);
    assert.equal(await call(server, 'fine'), FINE);
    const { stdout } = await hookshelf(['doctor', '--data', data]);
    assert.match(stdout, /switched off, [^:]*: loop \(loop\.mjs\) until \d{4}-/);
    // An accepted request waits, and that is no attempt.
    await make(server, '/api/incoming-webhooks', {
      pathSegment: 'later', actionConfiguration: 'loop', answer: 'accepted', inbox: 'all',
    });
    assert.ok((await server.call('/webhook/in/later', '{}')).status < 300);
    const { requests } = await readWaiting(server);
    assert.deepEqual(requests, ['pending']);
    assert.equal(await call(server, 'fine'), FINE);
    assert.deepEqual(await readWaiting(server), { requests: ['pending'], attempts: [0] });
    // So does a delivery whose body the action makes.
    await make(server, '/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'thing.made', actionConfiguration: 'loop',
    });
    await server.call('/api/events', '{"name":"thing.made","payload":{}}');
    assert.equal(await call(server, 'fine'), FINE);
    const deliveries = await server.list<{
      readonly status: string; readonly attempts: readonly object[];
    }>('/api/deliveries');
    assert.deepEqual(deliveries.map(({ status, attempts }) => [status, attempts.length]),
      [['pending', 0]]);
  }));

/** The states of stored requests, and the numbers of their attempts. */
async function readWaiting(
  server: Survivor,
): Promise<{ readonly requests: readonly string[]; readonly attempts: readonly number[] }> {
  const requests = await server.list<{
    readonly status: string; readonly routes: readonly { readonly attempts: readonly object[] }[];
  }>('/api/requests');
  return {
    requests: requests.map(({ status }) => status),
    attempts: requests.flatMap(({ routes }) => routes.map(({ attempts }) => attempts.length)),
  };
}

test('a loop in validateOptions refuses the options, and holds up nothing after it', () =>
  withModules({ fine: BODIES['fine'] ?? '' }, async (server) => {
    const body = JSON.stringify({ actionType: 'fine', options: { isLooping: true } });
    const { status, text } = await server.call('/api/action-configurations', body);
    assert.equal(status, 422, text);
    assert.match(text, /could not be checked: the action failed/);
    await untilReplaced(server);
  }));

for (const [what, first] of someOf([
  ['waits', NEVER],
  // A loop without an end, which leaves the processor to others.
  ['loops', 'for (const cell = new Int32Array(new SharedArrayBuffer(4));;) '
    + 'Atomics.wait(cell, 0, 0, 50);'],
], 2)) {
  test(`a module that ${what} and does not load in 10 s fails the start, named`, () =>
    inFolder(async (data) => {
      writeModules(data, {});
      writeFileSync(join(data, 'actions/stuck.mjs'), moduleText('stuck', '', first),
        { mode: 0o600 });
      const { code, stderr } = await hookshelf(['serve', '--port', '0', '--data', data]);
      assert.notEqual(code, 0);
      assert.match(stderr, /stuck\.mjs: did not load within 10 s/);
    }));
}

test('a request that was accepted is tried again after its worker was ended beside it', () =>
  inFolder(async (data) => {
    writeModules(data, { exits: BODIES['exits'] ?? '', waits: `
      if (context.attempt === 1) ${NEVER}
      return ActionResult.ok();` });
    writeFileSync(join(data, 'settings.json'),
      JSON.stringify({ incoming: { retrySchedule: [0, 0] } }), { mode: 0o600 });
    const running = await startServer(['--data', data]);
    try {
      const post = async (path: string, body: object): Promise<void> => {
        const { status, text } = await ask(`${running.url}${path}`, { method: 'POST', body });
        assert.ok(status < 300, text);
      };
      for (const name of ['exits', 'waits']) {
        await post('/api/action-configurations', { identifier: name, actionType: name });
      }
      await post('/api/incoming-webhooks', {
        pathSegment: 'waits', actionConfiguration: 'waits', answer: 'accepted', inbox: 'all',
      });
      await post('/api/incoming-webhooks', { pathSegment: 'exits', actionConfiguration: 'exits' });
      await post('/webhook/in/waits', { word: 'p' });
      await ask(`${running.url}/webhook/in/exits`, { method: 'POST' });
      await until('it is done', async () =>
        (await ask(`${running.url}/api/requests?status=done`)).text.includes('waits'));
      const { text } = await ask(`${running.url}/api/requests`);
      assert.match(text, /The action was stopped/);
    } finally {
      await running.stop('SIGKILL');
    }
  }));

for (const [how, signalCount] of [['a stop', 1], ['a second signal', 2]] as const) {
  test(`${how} ends a server whose worker waits within the system, and loses nothing`, () =>
    inFolder(async (data) => {
      const mark = join(data, 'waiting');
      writeModules(data, { waits: `
        const { execFileSync } = await import('node:child_process');
        execFileSync('sh', ['-c', 'touch "$0"; exec sleep 20', ${JSON.stringify(mark)}]);` });
      writeFileSync(join(data, 'settings.json'), JSON.stringify({
        server: { shutdownTimeout: signalCount === 1 ? 1 : 60 },
      }), { mode: 0o600 });
      const { url, child, ended, stderr } = await startServer(['--data', data]);
      try {
        const post = (path: string, body: object): Promise<{ readonly status: number }> =>
          ask(`${url}${path}`, { method: 'POST', body });
        await post('/api/action-configurations', { identifier: 'waits', actionType: 'waits' });
        await post('/api/incoming-webhooks', {
          pathSegment: 'waits', actionConfiguration: 'waits',
        });
        void post('/webhook/in/waits', {}).catch(() => {});
        await until('the worker waits', () => existsSync(mark));
        assert.equal((await post('/api/books', { title: 'Dune' })).status, 201);
        child.kill('SIGTERM');
        await until('it is stopping', () => stderr().includes('"stopping"'));
        if (signalCount > 1) child.kill('SIGTERM');
        const startMs = performance.now();
        await until('it has ended', () => child.exitCode !== null || child.signalCode !== null);
        assert.ok(performance.now() - startMs < 10_000);
        await ended;
      } finally {
        child.kill('SIGKILL');
      }
      assert.match((await hookshelf(['book:list', '--data', data])).stdout, /Dune/);
    }));
}
