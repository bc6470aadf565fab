/** One connection that asks for much at once, and what others get meanwhile: every GET route. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import { RawConnection, encodeRequest, rawRequest } from './support/raw-http.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const PIPELINED = 400;
// Client and server share one event loop, in which a new connection takes a few turns.
const SERVED_MAX = 50;

test('whatever one connection pipelines, others have their turn between', async () => {
  const data = createTemporaryFolder();
  const app = await createHookshelf({ data });
  try {
    const place = { port: Number(new URL((await app.listen({ port: 0 })).url).port) };
    const book = await app.books.add({ title: 'Emma' });
    const { body } = await rawRequest(place, 'GET', '/openapi.json');
    const paths = Object.entries(JSON.parse(body).paths as Record<string, object>)
      .filter(([path, methods]) => 'get' in methods && !path.startsWith('/webhook/'))
      // An answer without end: nothing comes after it on its connection.
      .filter(([path]) => path !== '/api/stream')
      .map(([path]) => path);
    assert(paths.length >= 10 && paths.includes('/docs') && paths.includes('/metrics'));
    for (const path of paths) {
      const before = await served(place, path);
      const connection = new RawConnection(place);
      const request = encodeRequest('GET', path.replace(/\{\w+\}/, book.id));
      connection.send(Buffer.concat(Array.from({ length: PIPELINED }, () => request)));
      await connection.answer();
      const count = await served(place, path) - before;
      connection.close();
      assert(count < SERVED_MAX, `${path}: ${count} of ${PIPELINED} were answered before`);
    }
  } finally {
    await app.close();
  }
});

/** How many requests of the route the server has answered. */
async function served(place: { readonly port: number }, path: string): Promise<number> {
  const { body } = await rawRequest(place, 'GET', '/metrics');
  const start = `hookshelf_http_requests_total{route="${path}",method="GET",`;
  return body.split('\n').filter((line) => line.startsWith(start))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
