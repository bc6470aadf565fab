/** Names of webhooks with real commands: before a server runs, with one, and after a restart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ended } from '../support/children.ts';
import { followStream } from '../support/event-stream.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

type Run = (...words: string[]) => Promise<Ended>;

const TARGET = 'http://127.0.0.1:1/hooks/customer';

async function good(ended: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  return stdout;
}

async function refused(ended: Promise<Ended>, message: RegExp): Promise<void> {
  const { code, stderr } = await ended;
  assert.equal(code, 1, stderr);
  assert.match(stderr, message);
}

/** Resolves with the identifier of the outgoing webhook. */
async function checkFound(run: Run): Promise<string> {
  const idOf = async (...words: string[]): Promise<string> =>
    JSON.parse(await good(run(...words, '--json'))).identifier;
  const crm = await idOf('outgoingwebhook:show', 'crm');
  assert.equal(await idOf('outgoingwebhook:show', 'cr'), crm, 'the beginning of a name');
  assert.equal(await idOf('outgoingwebhook:show', crm), crm);
  const deploy = await idOf('incomingwebhook:show', 'deploy-main');
  assert.equal(await idOf('incomingwebhook:show', 'ci'), deploy, 'the path segment');
  return crm;
}

/** What holds whether the commands ask a server or open the directory themselves. */
async function checkNames(run: Run): Promise<void> {
  const crm = await checkFound(run);
  await refused(run('outgoingwebhook:create', '--target-url', TARGET, '--name', 'crm'),
    /^hookshelf: name "crm" is already taken$/m);
  await refused(
    run('incomingwebhook:create', '--path-segment', 'deploy-main', '--action-config', 'log'),
    /pathSegment "deploy-main" is already taken, as another's name/);
  await refused(run('outgoingwebhook:update', 'crm', '--name', crm), /not of a UUID's form/);
  await refused(run('delivery:list', '--hook', 'nobody'), /no outgoing webhook "nobody"/);
  for (const words of [
    ['outgoingwebhook:disable', 'crm'], ['outgoingwebhook:enable', 'crm'],
    ['incomingwebhook:disable', 'deploy-main'], ['incomingwebhook:enable', 'deploy-main'],
    ['outgoingwebhook:rotate-secret', 'crm', '--generate-secret', '--force'],
    ['incomingwebhook:rotate-secret', 'deploy-main', '--generate-secret', '--force'],
    ['incomingwebhook:test', 'deploy-main'], ['incomingwebhook:match', 'deploy-main',
      '--payload', '{}'],
    ['delivery:list', '--hook', 'crm'], ['request:list', '--hook', 'deploy-main'],
    ['delivery:resend', '--failed', '--hook', 'crm', '--dry-run'],
    ['request:replay', '--failed', '--hook', 'deploy-main', '--dry-run'],
  ]) {
    await good(run(...words));
  }
  const sent = await run('outgoingwebhook:send', 'crm', '--json');
  assert.equal(JSON.parse(sent.stdout).success, false, 'nobody listens at its target');
}

/** A delivery, a request, and what counts them, each with the name of its webhook. */
async function checkShown(url: string, run: Run): Promise<void> {
  const reader = await followStream({ port: Number(new URL(url).port) },
    { path: '/api/stream?hook=crm' });
  const post = (path: string, body: object) => ask(`${url}${path}`, { method: 'POST', body });
  assert.equal((await post('/api/events', { name: 'order.paid' })).status, 202);
  assert.equal((await post('/webhook/in/ci', {})).status, 401, 'unsigned');
  await until('the attempt is counted', async () => {
    const { text } = await ask(`${url}/api/statistics`);
    const hooks: readonly Record<string, unknown>[] = JSON.parse(text).hooks;
    const seen = hooks.map(({ hookName, target }) => `${String(hookName)} ${String(target)}`);
    return seen.includes('crm 127.0.0.1:1/hooks/customer') && seen.includes('deploy-main null');
  });
  await reader.until(1);
  assert.match(reader.events[0]?.data ?? '', /"hookName":"crm","target":"127\.0\.0\.1:1\/hooks/);
  await reader.close();
  const lines = async (command: string): Promise<string> => (await good(run(command)));
  assert.match(await lines('outgoingwebhook:list'), /^NAME .*\ncrm /);
  assert.match(await lines('incomingwebhook:list'), /^NAME .*\ndeploy-main /);
  assert.match(await lines('delivery:list'),
    /HOOK +TARGET .*\n.* crm +127\.0\.0\.1:1\/hooks\/customer /);
  assert.match(await lines('request:list'), /HOOK .*\n.* deploy-main /);
}

test('webhooks are made, found, renamed and freed by name, with a server and without', () =>
  inFolder(async (data) => {
    const run: Run = (...words) => hookshelf([...words, '--data', data]);
    await good(run('actionconfig:create', '--action', 'log', '--identifier', 'log',
      '--description', 'To the log'));
    const described = await good(run('actionconfig:show', 'log'));
    assert.match(described, /To the log/);
    await good(run('actionconfig:update', 'log', '--unset', 'description'));
    assert.doesNotMatch(await good(run('actionconfig:show', 'log')), /To the log/);
    const made = await good(run('outgoingwebhook:create', '--target-url', TARGET, '--name', 'crm',
      '--description', 'The customers', '--trigger-event', 'order.*'));
    assert.match(made, /^created outgoing webhook crm \([-0-9a-f]{36}\): POST http/);
    await good(run('incomingwebhook:create', '--path-segment', 'ci', '--action-config', 'log',
      '--name', 'deploy-main', '--description', 'Of main'));
    await checkNames(run);
    for (let start = 0; start < 2; start += 1) {
      const server = await startServer(['--data', data]);
      try {
        await (start === 0 ? checkNames(run) : checkFound(run));
        const { text } = await ask(`${server.url}/api/outgoing-webhooks/crm`);
        assert.equal(JSON.parse(text).description, 'The customers');
        await checkShown(server.url, run);
        const stream = `${server.url}/api/stream?hook=crm&topics=deliveries`;
        assert.equal((await ask(stream, { method: 'HEAD' })).status, 200);
      } finally {
        await server.stop();
      }
    }
    await good(run('outgoingwebhook:update', 'crm', '--name', 'customers'));
    await refused(run('outgoingwebhook:show', 'crm'), /no outgoing webhook/);
    await good(run('outgoingwebhook:create', '--target-url', TARGET, '--name', 'crm'));
    await good(run('incomingwebhook:update', 'deploy-main', '--unset', 'name',
      '--unset', 'description'));
    const freed = JSON.parse(await good(run('incomingwebhook:show', 'ci', '--json')));
    assert.ok(!('name' in freed) && !('description' in freed));
    await good(run('incomingwebhook:create', '--path-segment', 'deploy-main',
      '--action-config', 'log'));
    await good(run('outgoingwebhook:delete', 'customers'));
    await good(run('outgoingwebhook:update', 'crm', '--name', 'customers'));
  }));
