import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelayFor } from './relay.ts';

const SUBJECT_BY_PATH: Readonly<Record<string, string>> = {
  '/api/outgoing-webhooks/': 'webhook', '/api/deliveries/': 'delivery', '/api/events/': 'event',
  '/api/jobs/': 'job',
};

test('a route for bound tokens whose path names a record says of what kind that is',
  async (context) => {
    const { webhooks } = await startRelayFor(context);
    const bound = webhooks.routes.filter((route) => route.bound !== undefined);
    assert.ok(bound.length > 20);
    const expected = bound.map(({ method, path }) => {
      const [root = ''] = /^\/api\/[a-z-]+\//.exec(path) ?? [];
      return [method, path, path.includes('{') ? SUBJECT_BY_PATH[root] : undefined];
    });
    assert.deepEqual(bound.map(({ method, path, bound: rule }) => [method, path, rule?.subject]),
      expected);
  });
