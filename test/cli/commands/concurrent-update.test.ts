import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { CommandContext } from '../../../src/cli/commands/command-context.ts';
import { fetchRecord, updateRecord } from '../../../src/cli/commands/resource-commands.ts';
import type { ApiCall } from '../../../src/server/local/api-call.ts';
import { configurationResource } from '../../../src/webhooks/actions/action-configuration.ts';

for (const [method, changes] of [
  ['PATCH', { name: 'new' }], ['PUT', { options: { url: 'http://ci.test/' } }],
] as const) {
  test(`an update of a record that has changed meanwhile is refused (${method})`, async () => {
    let etag = '"1"';
    const methods: string[] = [];
    const context = {
      openApiClient: async () => ({
        async request({ method, headers = {} }: ApiCall) {
          methods.push(method);
          if (method !== 'GET' && headers['if-match'] !== etag) {
            throw new AppError('precondition_failed', 'another version is stored');
          }
          return { body: { identifier: 'to-ci' }, headers: { etag } };
        },
      }),
    } as unknown as CommandContext;
    const update = async (current: Awaited<ReturnType<typeof fetchRecord>>): Promise<unknown> =>
      updateRecord(context, configurationResource, 'to-ci',
        { current, changes, wholeMembers: ['options'] });
    const current = await fetchRecord(context, configurationResource, 'to-ci');
    assert.deepEqual(await update(current), { identifier: 'to-ci' });
    etag = '"2"';
    await assert.rejects(update(current), /another version is stored/);
    assert.deepEqual(methods, ['GET', method, method]);
  });
}
