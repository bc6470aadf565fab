/** A job is watched until it ends; elements are stand-ins, as Node has no DOM. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { compile } from '../../../support/compile.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { someTurns } from '../../../support/turns.ts';

/** What the functions under test use of an element. */
class Element {
  children: (Element | string)[] = [];

  append(child: Element | string): void { this.children.push(child); }
  replaceChildren(): void { this.children = []; }
  addEventListener(): void {}
  setAttribute(): void {}
  querySelectorAll(): Element[] { return []; }
  remove(): void {}
}

type Watch = { readonly element: Element; watch(id: string): void };
type JobWatchModule = { readonly JobWatch: new (options: object) => Watch };

/** The responses to the next calls, the last one again and again; the paths that were called. */
const server = { responses: [] as Response[], paths: [] as string[] };

/** All elements, in the order in which they were made. */
const elements: Element[] = [];

Object.assign(globalThis, {
  Node: Element,
  document: { createElement: () => elements[elements.push(new Element()) - 1] },
  location: { pathname: '/console' },
  sessionStorage: { getItem: () => null },
  fetch: async (path: string): Promise<Response> => {
    if (path === '/api/jobs') return Response.json([]);
    server.paths.push(path);
    const [response = Response.error()] = server.responses;
    if (server.responses.length > 1) server.responses.shift();
    return response.clone();
  },
});
const { JobWatch }: JobWatchModule =
  await import(compile('src/console/parts/lists/job-watch.ts', createTemporaryFolder()));

const DONE = {
  id: 'j1', kind: 'resend', status: 'done', reason: null, total: 2, done: 2, failed: 0,
};

/** Watches a job through three polls; returns what was called, and whether it still shows. */
async function watchJob(responses: Response[]): Promise<{
  readonly calls: number; readonly ends: number; readonly isShown: boolean;
}> {
  mock.timers.enable({ apis: ['setTimeout'] });
  Object.assign(server, { responses, paths: [] });
  let ends = 0;
  const watch = new JobWatch({
    kind: 'resend', verbs: ['Sending', 'Sent'], onEnd: () => void (ends += 1),
  });
  watch.watch('j1');
  for (let poll = 0; poll < 3; poll += 1) {
    await someTurns(5);
    mock.timers.tick(500);
  }
  mock.timers.reset();
  return { calls: server.paths.length, ends, isShown: watch.element.children.length > 0 };
}

test('a job that the server does not know any more is asked for once', async () => {
  const result = await watchJob([Response.json({ detail: 'no such job' }, { status: 404 })]);
  assert.deepEqual(result, { calls: 1, ends: 1, isShown: false });
});

for (const status of [401, 429, 500, 503]) {
  test(`a job is watched on after a response of ${status}`, async () => {
    const result = await watchJob([Response.json({}, { status }), Response.json(DONE)]);
    assert.deepEqual(result, { calls: 2, ends: 1, isShown: false });
  });
}

test('a job that has ended before its time says why', async () => {
  const reason = 'the token that began it was revoked or has expired';
  await watchJob([Response.json({ ...DONE, status: 'cancelled', reason, done: 1 })]);
  assert.equal(elements.at(-1)?.children[0], `Stopped: 1 of 2, because ${reason}.`);
});
