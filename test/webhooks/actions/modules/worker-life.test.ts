/** Workers that modules end, or hold up: what of it reaches whom. */
import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../../../src/base/errors.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { HttpRequest } from '../../../../src/client/http-client.ts';
import {
  createActionRegistry, type ActionCall, type RegisteredAction,
} from '../../../../src/webhooks/actions/action-registry.ts';
import { loadActionModules } from '../../../../src/webhooks/actions/modules/load-action-modules.ts';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { SwitchedOffError } from '../../../../src/webhooks/actions/run-action.ts';
import type { HttpSender } from '../../../../src/webhooks/members/http-sender.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { createCall } from './action-calls.ts';
import { longTest } from '../../../support/long.ts';

const NEVER = 'await new Promise(() => {});';
/** The body of a module that is loaded after the others, as its name is the last one. */
const WORKS = 'return ActionResult.ok({ payload });';
const STOPPED = ActionResult.fail('The action was stopped');
const ENDS_MS_MAX = 60_000;

type Modules = {
  find(name: string): RegisteredAction;
  /** Runs the action, and fails when it does not end. */
  run(name: string, call?: ActionCall): Promise<unknown>;
};

type ModulesOptions = {
  readonly http?: HttpSender;
  readonly memoryMiBMax?: number;
  readonly callTimeoutMs?: number;
  /** Code that runs as a module is loaded, by the name of the module. */
  readonly loadCode?: Readonly<Record<string, string>>;
};

/** Modules by name, each with the body of its `execute`, in a worker of their own. */
async function withModules(
  bodies: Readonly<Record<string, string>>, use: (modules: Modules) => Promise<void>,
  { http = { request: async () => assert.fail('there is no network') }, memoryMiBMax = 128,
    callTimeoutMs = 30_000, loadCode = {} }: ModulesOptions = {},
): Promise<void> {
  const folder = join(createTemporaryFolder(), 'actions');
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, body] of Object.entries(bodies)) {
    writeFileSync(join(folder, `${name}.mjs`), `
import { existsSync, writeFileSync } from 'node:fs';
${loadCode[name] ?? ''}
export default class {
  static identifier() { return '${name}'; }
  static label() { return 'Planted'; }
  async execute(payload, context, options, { http, log, ActionResult }) { ${body} }
}`, { mode: 0o600 });
  }
  const { sources, close } = await loadActionModules({
    folder, paths: [], log: silentLogger, callTimeoutMs, memoryMiBMax,
  });
  const registry = createActionRegistry({ builtIn: [], custom: sources, http, log: silentLogger });
  const find = (name: string): RegisteredAction => registry.find(name) ?? assert.fail();
  try {
    await use({ find, run: async (name, call = createCall({})) => inTime(find(name).run(call)) });
  } finally {
    await close();
  }
}

async function inTime(running: unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the run does not end')), ENDS_MS_MAX);
  });
  return Promise.race([running, late]).finally(() => clearTimeout(timer));
}

function isSuccess(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'success' in result
    && result.success === true;
}

const ENDING: Readonly<Record<string, string>> = {
  exits: 'await null; process.exit(3);',
  // Only the stack tells whose timer it was.
  throws: `setTimeout(() => { throw new Error('late'); }); ${NEVER}`,
};

for (const [name, body] of Object.entries(ENDING)) {
  test(`a module that ${name} stops all runs, and after three times it alone is off`, () =>
    withModules({ works: WORKS, waits: NEVER, [name]: body }, async ({ find, run }) => {
      for (let end = 0; end < 3; end += 1) {
        assert.equal(isSuccess(await run('works')), true);
        const [beside, done, ending] = [run('waits'), run('works'), run(name)];
        assert.deepEqual(await ending, STOPPED);
        assert.deepEqual(await beside, STOPPED);
        // It has ended before, in the same turn.
        assert.equal(isSuccess(await done), true);
      }
      await assert.rejects(run(name), SwitchedOffError);
      const off = Object.keys({ works: '', waits: '', [name]: '' })
        .filter((each) => find(each).module?.switchedOffUntilMs !== null);
      assert.deepEqual(off, [name]);
      assert.equal(isSuccess(await run('works')), true);
    }));
}

test('a module is loaded again after another one has ended the worker as it was loaded', () => {
  const mark = JSON.stringify(join(createTemporaryFolder(), 'loaded'));
  const ends = `if (existsSync(${mark})) process.exit(3);\nwriteFileSync(${mark}, '');`;
  return withModules({ ends: 'process.exit(3);', works: WORKS }, async ({ run }) => {
    assert.deepEqual(await run('ends'), STOPPED);
    assert.equal(isSuccess(await run('works')), true);
  }, { loadCode: { ends } });
});

longTest('a loop that nobody waits for any more is ended, and laid to its module', () =>
  withModules({ works: WORKS, loops: 'for (;;);' }, async ({ find, run }) => {
    for (let end = 0; end < 3; end += 1) {
      assert.equal(isSuccess(await run('works')), true);
      const call = createCall({});
      const looping = run('loops', call);
      const beside = run('works');
      find('loops').module?.onLate(call);
      assert.deepEqual(await beside, STOPPED);
      void looping.catch(() => {});
    }
    await assert.rejects(run('loops'), SwitchedOffError);
    assert.equal(isSuccess(await run('works')), true);
  }));

test('a late action whose worker answers ends nothing', () =>
  withModules({ works: WORKS, waits: NEVER, answers: `
    await new Promise((resolve) => { setTimeout(resolve, 1500); });
    return ActionResult.ok();` }, async ({ find, run }) => {
    const call = createCall({});
    const waiting = find('waits').run(call);
    void Promise.resolve(waiting).catch(() => {});
    const answering = run('answers');
    find('waits').module?.onLate(call);
    // It is given up as well after the second in which the worker has to answer.
    assert.equal(isSuccess(await answering), true);
    assert.equal(isSuccess(await run('works')), true);
  }));

longTest('a heap beyond the limit ends a worker, and each that comes after it', () =>
  withModules({
    works: WORKS,
    keeps: `
      globalThis.kept = Array.from({ length: 3_000_000 }, (_, index) => ({ index }));
      ${NEVER}`,
  }, async ({ run }) => {
    for (let end = 0; end < 2; end += 1) {
      assert.deepEqual(await run('keeps'), STOPPED);
      assert.equal(isSuccess(await run('works')), true);
    }
  }, { memoryMiBMax: 32 }));

test('buffers beyond the limit end a worker, as its heap does', () =>
  withModules({
    works: WORKS,
    keeps: `
      globalThis.kept = Array.from({ length: 48 }, () => Buffer.alloc(2 ** 20, 1));
      ${NEVER}`,
  }, async ({ run }) => {
    assert.deepEqual(await run('keeps'), STOPPED);
    assert.equal(isSuccess(await run('works')), true);
  }, { memoryMiBMax: 32 }));

const IMPORTS_PORT = 'import { parentPort } from "node:worker_threads";';

for (const message of [
  'null', '{ report: "log" }', '{ report: "request", requestId: 1 }',
  '{ report: "ended", runs: "{" }',
]) {
  test(`the message ${message} of a module ends the worker, and never the server`, () =>
    withModules({ sends: `parentPort.postMessage(${message}); ${NEVER}`, works: WORKS },
      async ({ run }) => {
        assert.deepEqual(await run('sends'), STOPPED);
        assert.equal(isSuccess(await run('works')), true);
      }, { loadCode: { sends: IMPORTS_PORT } }));
}

test('runs of one turn end each with its own result, whatever they take', () => {
  const body = Buffer.from('{"word":"body"}');
  return withModules({
    works: WORKS,
    reads: `
      const body = Buffer.from(context.body.buffer).toString();
      return ActionResult.ok({ body, payload, context });`,
    holds: 'for (const start = Date.now(); Date.now() - start < 5;); return { success: false };',
    throws: 'throw new TypeError("thrown");',
    gives: 'return { success: true, data: { toJSON: () => 5 } };',
    nothing: '',
  }, async ({ run }) => {
    const call = createCall({ word: 'p' }, silentLogger, body);
    const ends = await Promise.allSettled(
      ['holds', 'works', 'throws', 'reads', 'holds', 'gives', 'nothing', 'works']
        .map((name) => run(name, { ...call, payloadJson: () => name === 'works' ? null : body })));
    const values = ends.map((end) => end.status === 'fulfilled' ? end.value : String(end.reason));
    const works = { success: true, message: null, data: { payload: [] } };
    const holds = { success: false, message: null, data: {} };
    assert.deepEqual(JSON.parse(JSON.stringify(values)), [
      holds, works, 'TypeError: thrown',
      { success: true, message: null, data: {
        body: String(body), payload: { word: 'body' },
        context: { ...call.context, body: body.toJSON() },
      } },
      holds, { success: true, message: null, data: 5 }, null, works,
    ]);
  });
});

test('runs begin in the order in which they came, also behind one that holds the thread up', () =>
  withModules({
    holds: 'for (const start = Date.now(); Date.now() - start < 50;); return { success: true };',
    notes: `
      (globalThis.begun ??= []).push(payload.number);
      return ActionResult.ok({ begun: globalThis.begun });`,
  }, async ({ run }) => {
    const turn = [run('holds'), run('notes', createCall({ number: 1 }))];
    await nextTurn();
    const last = await run('notes', createCall({ number: 2 }));
    await Promise.all(turn);
    assert.deepEqual(JSON.parse(JSON.stringify(last)).data, { begun: [1, 2] });
  }));

for (const [name, send] of [
  ['logs', 'log.info("again")'],
  ['sends', `http.request({
    method: 'POST', url: 'http://x.example/', body: new Uint8Array(2 ** 20),
  }).catch(() => {})`],
] as const) {
  longTest(`a module that ${name} without end waits for a main thread that is busy`, () => {
    const path = join(createTemporaryFolder(), 'count');
    return withModules({ [name]: `
      for (let count = 1; count <= 400; count += 1) {
        ${send};
        writeFileSync(${JSON.stringify(path)}, '.', { flag: 'a' });
      }
      return ActionResult.ok();` }, async ({ find }) => {
      const running = find(name).run(createCall({}));
      await nextTurn();
      // This thread reads nothing meanwhile.
      const read = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const endMs = performance.now() + ENDS_MS_MAX;
      while (read() < 100 && performance.now() < endMs) pauseThread(5);
      pauseThread(500);
      assert.ok(read() >= 100 && read() < 300, String(read()));
      assert.equal(isSuccess(await inTime(running)), true);
    }, { http: { request: answerEmpty }, callTimeoutMs: 2 * ENDS_MS_MAX });
  });
}

async function answerEmpty(): ReturnType<HttpSender['request']> {
  return { statusCode: 204, headers: {}, body: Buffer.alloc(0) };
}

function pauseThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a request ends with the worker that has sent it', async () => {
  const signals: AbortSignal[] = [];
  const request = ({ signal }: HttpRequest): Promise<never> => new Promise((_, reject) => {
    if (signal === undefined) return;
    signals.push(signal);
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
  await withModules({
    sends: `http.request({ method: 'GET', url: 'http://x.example/' }); ${NEVER}`,
    exits: 'await null; process.exit(3);',
  }, async ({ run }) => {
    const sending = run('sends');
    await until('the request is sent', () => signals.length === 1);
    assert.deepEqual(await run('exits'), STOPPED);
    assert.deepEqual(await sending, STOPPED);
    assert.equal(signals[0]?.aborted, true);
  }, { http: { request } });
});

test('the error of a request that a module throws on is the same one here', async () => {
  const refusal = new AppError('conflict', 'refused');
  await withModules({ sends: `
    await http.request({ method: 'GET', url: 'http://x.example/' });` }, async ({ run }) => {
    await assert.rejects(run('sends'), (thrown) => thrown === refusal);
  }, { http: { request: async () => { throw refusal; } } });
});

test('a module gets the bytes of its own request, and nothing that lies beside them here', () =>
  withModules({ reads: `
    const { body } = context;
    const held = Buffer.from(body.buffer).toString('latin1');
    const holdsMore = held.includes('another');
    return ActionResult.ok({ text: String(body), holdsMore, payload });` },
  async ({ run }) => {
    const pool = Buffer.from('another request, and ours');
    const body = pool.subarray(-4);
    const result = await run('reads', createCall({ word: 'p' }, silentLogger, body));
    assert.deepEqual(result, {
      success: true, message: null,
      data: { text: 'ours', holdsMore: false, payload: { word: 'p' } },
    });
  }));
