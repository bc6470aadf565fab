/** Commands that follow from the rows of routes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCommands, withRouteCommands } from '../../../src/cli/commands/route-command.ts';
import type { ApiClient } from '../../../src/cli/api-client/api-client.ts';
import { runCommand } from '../io.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

test('a command follows from its route, with the record that the path names', () => {
  const rows = describeCommands([
    {
      method: 'POST', path: '/api/deliveries/{identifier}/cancel', operationId: 'cancelDelivery',
      summary: 'Cancel one', access: 'write', responses: [],
      commands: [{ name: 'delivery:cancel', done: 'cancelled {id}' }],
    },
    {
      method: 'GET', path: '/api/deliveries/reconcile', operationId: 'reconcileDeliveries',
      summary: 'Count all', access: 'read', responses: [],
      commands: [{ name: 'request:count', summary: 'Count', successMember: 'isWhole' }],
    },
  ]);
  assert.deepEqual(rows.map(({ name, summary, options, examples, call }) =>
    [name, summary, Object.keys(options), examples, call]), [
    [
      'delivery:cancel', 'Cancel one', ['identifier'], ['hookshelf delivery:cancel <id>'],
      { method: 'POST', path: '/api/deliveries/{identifier}/cancel', done: 'cancelled {id}' },
    ],
    [
      'request:count', 'Count', [], ['hookshelf request:count'],
      { method: 'GET', path: '/api/deliveries/reconcile', successMember: 'isWhole' },
    ],
  ]);
  const own = ['delivery:list', 'delivery:show', 'request:list'].map((name) =>
    ({ name, summary: '', options: {}, examples: [], load: () => Promise.reject(new Error()) }));
  assert.deepEqual(withRouteCommands(own, rows).map(({ name }) => name),
    ['delivery:list', 'delivery:show', 'delivery:cancel', 'request:list', 'request:count']);
});

test('the exit code says what the answer does', async () => {
  for (const [isReconciled, expected] of [[true, 0], [false, 1]] as const) {
    const wrapSession = (client: ApiClient): ApiClient => ({
      ...client, hasServer: true, isOverNetwork: false,
      request: () => Promise.resolve({ status: 200, headers: {}, body: { isReconciled } }),
      close: () => client.close(),
    });
    const words = ['delivery:reconcile', '--data', createTemporaryFolder()];
    const { code, stdout } = await runCommand(words, { wrapSession });
    assert.equal(code, expected);
    assert.equal(stdout, `isReconciled  ${isReconciled}\n`);
  }
});
