import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../../src/server/http-route.ts';
import { parseQuery } from '../../../src/server/query.ts';
import { ask } from '../../e2e/ask.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { echoRoute, route, startServer } from '../../support/test-server.ts';
import { someTurns } from '../../support/turns.ts';

const parameters = [
  { name: 'hook', in: 'query', description: '', schema: { kind: 'string' } },
] as const;

test('a query is refused before anything is done where an endpoint knows none', async () => {
  let calls = 0;
  await using server = await startServer([
    route('POST', '/api/retry', (exchange) => {
      calls += 1;
      exchange.sendJson(202, calls);
    }),
    route('GET', '/api/list', (exchange) => {
      exchange.sendJson(200, parseQuery(exchange.search, ['hook']).get('hook'));
    }, { parameters }),
    echoRoute('GET', '/healthz'),
  ]);
  for (const [method, target, status, body] of [
    ['POST', '/api/retry?hook=one', 400, /unknown query parameter `hook`: none is known/],
    ['POST', '/api/retry?%zz', 400, /the query holds a bad percent-encoding/],
    ['POST', '/api/retry?', 202, /^1$/],
    ['GET', '/api/list?hook=one', 200, /^"one"$/],
    ['GET', '/api/list?hook=one+two%2Bthree', 200, /^"one two\+three"$/],
    ['GET', '/api/list?hok=one', 400, /did you mean `hook`/],
    ['PUT', '/api/retry?hook=one', 405, /./],
    ['GET', '/healthz?at=now', 200, /"search":"at=now"/],
  ] as const) {
    const answer = await rawRequest(server, method, target);
    assert.equal(answer.status, status, target);
    assert.match(answer.body, body, target);
  }
  assert.equal(calls, 1);
});

test('a body that says anything is refused before anything is done where a route takes none',
  async () => {
    let calls = 0;
    const handle = (exchange: Exchange): void => {
      calls += 1;
      exchange.sendJson(202, calls);
    };
    const body = {
      mediaTypes: ['application/json'], schema: { kind: 'object', members: {} },
    } as const;
    await using server = await startServer([
      route('POST', '/api/retry', handle), route('DELETE', '/api/one', handle),
      route('GET', '/api/list', handle), route('POST', '/api/filter', handle, { body }),
      route('POST', '/elsewhere', handle),
    ]);
    const headers = { 'Content-Type': 'application/json' };
    for (const [method, target, text, status] of [
      ['POST', '/api/retry', '', 202], ['POST', '/api/retry', ' { } ', 202],
      ['POST', '/api/retry', 'null', 202], ['POST', '/api/retry', '[]', 202],
      ['POST', '/api/retry', '{"hook":"one"}', 400], ['POST', '/api/retry', 'hook=one', 400],
      ['POST', '/api/retry', `{"hook":"${'a'.repeat(100)}"}`, 400],
      ['DELETE', '/api/one', '{"a":1}', 400],
      ['DELETE', '/api/one', '{}', 202], ['GET', '/api/list', '{"a":1}', 202],
      ['POST', '/api/filter', '{"a":1}', 202], ['POST', '/elsewhere', '{"a":1}', 202],
    ] as const) {
      const before = calls;
      const answer = await rawRequest(server, method, target, headers, text);
      assert.equal(answer.status, status, `${target} ${text}: ${answer.body}`);
      assert.equal(calls - before, status === 202 ? 1 : 0);
      if (status === 400) assert.match(answer.body, /takes no body.*send it without one/);
    }
  });

for (const entrance of ['loopback', 'network', 'embedded', 'control'] as const) {
  test(`a request ${entrance === 'control' ? 'does not wait' : 'waits'} (${entrance})`,
    async () => {
      let calls = 0;
      let end = (): void => {};
      const prepared = new Promise<void>((resolve) => {
        end = resolve;
      });
      const prepare = (): Promise<void> => {
        calls += 1;
        return prepared;
      };
      await using server = await startServer(
        [route('GET', '/a', (exchange) => exchange.sendJson(200, {}))], { entrance, prepare });
      const answers: number[] = [];
      const asking = ['/a', '/none'].map(async (path) => {
        answers.push((await ask(`http://127.0.0.1:${server.port}${path}`)).status);
      });
      if (entrance !== 'control') {
        await someTurns();
        assert.deepEqual(answers, []);
        end();
      }
      await Promise.all(asking);
      assert.deepEqual(answers.toSorted(), [200, 404]);
      assert.equal(calls, entrance === 'control' ? 0 : 1);
    });
}
