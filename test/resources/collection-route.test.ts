import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectionRoute } from '../../src/resources/collection-route.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startServer } from '../support/test-server.ts';

const COUNT = 200;
const TEXT = 'x'.repeat(20_000);
/** Records that are shown in one turn of the loop, by their bytes. */
const SHOWN_MAX = 6;

for (const query of ['', '?limit=150']) {
  test(`large records are shown a few a turn of the loop, asked with "${query}"`, async () => {
    let turn = 0;
    const turns: number[] = [];
    const members = {};
    await using server = await startServer([collectionRoute({
      path: '/api/things', noun: 'thing', schema: { kind: 'object', name: 'Thing', members },
    }, {
      size: COUNT,
      ids: () => Array.from({ length: COUNT }, (_, index) => String(index)).values(),
      findListed(id) {
        turns.push(turn);
        return { id, bytes: Buffer.from(JSON.stringify({ id, text: TEXT })) };
      },
    })]);
    let isDone = false;
    const count = (): void => {
      turn += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { body } = await rawRequest(server, 'GET', `/api/things${query}`);
    isDone = true;
    assert.equal(JSON.parse(body).length, query === '' ? COUNT : 150);
    const shown = turns.map((one) => turns.filter((other) => other === one).length);
    assert.ok(Math.max(...shown) <= SHOWN_MAX, String(Math.max(...shown)));
  });
}
