/** What must be done before anything is answered: requests from outside wait for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../e2e/ask.ts';
import { someTurns } from '../../support/turns.ts';
import { route, startServer } from '../../support/test-server.ts';

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
