import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docsRoute } from '../../src/server/documents/docs-routes.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import { operationsRoutes } from '../../src/server/operations-routes.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startServer } from '../support/test-server.ts';

class CountingMetrics extends Metrics {
  renderings = 0;

  override render(): string {
    this.renderings += 1;
    return super.render();
  }
}

test('metrics are rendered once a turn, and never older than that', async () => {
  const metrics = new CountingMetrics();
  let figure = 0;
  metrics.add({ name: 'figure', type: 'gauge', help: 'Changes.', labels: [], read: () => figure });
  const routes = operationsRoutes({
    version: '1', metrics, startPage: '/docs', findUnreadyReason: () => null,
    createDocument: () => '{}',
  });
  const [route] = routes.filter(({ path }) => path === '/metrics');
  assert(route !== undefined);
  let sent = '';
  const ask = (): void => {
    const send = (_status: number, _headers: unknown, body: Buffer): void => {
      sent = body.toString();
    };
    void Reflect.apply(route.handle, route, [{ send }]);
  };
  for (const value of [1, 2, 3]) {
    figure = value;
    for (let count = 0; count < 100; count += 1) ask();
    assert.equal(metrics.renderings, value);
    assert.match(sent, new RegExp(`^figure ${value}$`, 'm'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
});

test('what is made from constants is made once, and names the host that it is asked from',
  async () => {
    const made = { document: 0, page: 0 };
    await using server = await startServer([
      docsRoute(() => {
        made.page += 1;
        return { paths: { '/api/books': { get: { summary: 'Lists' } } } };
      }, { chapters: [], search: () => [] }),
      ...operationsRoutes({
        version: '1', metrics: new Metrics(), startPage: '/docs', findUnreadyReason: () => null,
        createDocument: () => {
          made.document += 1;
          return '{}';
        },
      }),
    ]);
    for (const [host, shown] of [
      ['a.example', 'http://a.example'], ['a.example', 'http://a.example'],
      ['b.example:90', 'http://b.example:90'], ['[::1]:8000', 'http://[::1]:8000'],
      // Nothing that a shell or a browser would act on.
      ['$(id)', 'http://localhost'], ['"><b>', 'http://localhost'], ["'", 'http://localhost'],
    ] as const) {
      const { body } = await rawRequest(server, 'GET', '/docs', { Host: host });
      assert(body.includes(`'${shown}/api/books'`), `${host}: ${body.slice(0, 200)}`);
      assert(!body.includes('origin.invalid'));
      await rawRequest(server, 'GET', '/openapi.json', { Host: host });
    }
    assert.deepEqual(made, { document: 1, page: 1 });
  });
