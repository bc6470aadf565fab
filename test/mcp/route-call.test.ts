/** A tool's call of a route of which the answer is too long to be parsed. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { callRoute } from '../../src/mcp/route-call.ts';
import type { CallerApi, ToolCaller } from '../../src/mcp/tool.ts';
import type { HttpRoute } from '../../src/server/http-route.ts';

const LIST: HttpRoute = {
  method: 'GET', path: '/api/books', operationId: 'listBooks', access: 'read', summary: 'All books',
  parameters: [{
    name: 'limit', in: 'query', description: '',
    schema: { kind: 'integer', minimum: 1, maximum: 1000 },
  }],
  responses: [{
    status: 200, description: '', mediaType: 'application/json',
    schema: { kind: 'array', maxItems: 1000, items: { kind: 'string' } },
  }],
  handle() {},
};
const ITEM = JSON.stringify('x'.repeat(2000));
const ADMIN: ToolCaller = { mayCall: () => true, describeNeed: () => '' };

test('a page of 2 MB is given up, and asked for with fewer items', async () => {
  const limits: number[] = [];
  const api: CallerApi = {
    async open({ path }) {
      const limit = Number(new URL(path, 'http://x').searchParams.get('limit'));
      limits.push(limit);
      const response = new IncomingMessage(new Socket());
      response.headers['content-type'] = 'application/json';
      response.push(`[${Array.from({ length: limit }, () => ITEM).join()}]`);
      response.push(null);
      return response;
    },
    callEndpoint: () => assert.fail(),
  };
  const { items } = await callRoute(
    api, LIST, ADMIN, { limit: 1000 }, new AbortController().signal);
  assert.deepEqual(limits, [1000, 125]);
  assert.ok(Array.isArray(items) && items.length === 125);
});
