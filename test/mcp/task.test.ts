/**
 * A real task, by a program that knows nothing of the API: connect a GitHub webhook, wait for a
 * request, see why its signature fails, mend it, and run the request again.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { withAppServer } from '../support/app-server.ts';
import { ask } from '../e2e/ask.ts';
import { OPEN, createSpeaker, listTools, type Speaker } from './speaker.ts';

const NO_ID = '00000000-0000-7000-8000-000000000000';
const BODY = '{"zen":"Keep it logically awesome."}';

/** GitHub, which has that secret. */
async function sendPush(url: string, secret: string): Promise<number> {
  const signature = createHmac('sha256', secret).update(BODY).digest('hex');
  const { status } = await ask(url, {
    method: 'POST', raw: BODY, headers: {
      'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    },
  });
  return status;
}

async function findTool(speaker: Speaker, pattern: RegExp): Promise<string> {
  const tool = (await listTools(speaker)).find(({ name, description }) =>
    pattern.test(`${name}: ${description}`));
  assert.ok(tool !== undefined, String(pattern));
  return tool.name;
}

test('a program connects GitHub, finds the wrong secret, mends it and replays', () =>
  withAppServer(async ({ url }) => {
    const speaker = createSpeaker(url);
    const presets =
      await speaker.read(await findTool(speaker, /senders whose requests/), { limit: 100 });
    const preset = Object(presets)['items']
      .find((one: { sender: string }) => one.sender === 'GitHub');
    const actions = await speaker.read(await findTool(speaker, /actions that configurations/));
    const action = Object(actions)['items']
      .find((one: { identifier: string }) => one.identifier === 'log');
    const configuration = await speaker.read(
      await findTool(speaker, /Add one action configuration/),
      { identifier: 'note', actionType: action.identifier });
    const webhook = await speaker.read(await findTool(speaker, /Add one incoming webhook/), {
      pathSegment: 'github', verification: { preset: preset.name }, secret: 'a wrong secret',
      inbox: 'all', actionConfiguration: configuration['identifier'],
    });
    const identifier = webhook['identifier'];
    const examples = await speaker.read('api_call',
      { route: 'getIncomingWebhookExamples', arguments: { identifier } });
    const path = new URL(String(examples['url'])).pathname;

    const wait = await findTool(speaker, /Wait for the next request/);
    // Of all that ever came, so that it does not matter which is first.
    const waiting = speaker.read(wait, { hook: identifier, after: NO_ID, seconds: 30 });
    assert.equal(await sendPush(url + path, 'the right secret'), 401);
    const { request } = Object(await waiting);
    assert.equal(request.status, 'rejected');

    const diagnose = await findTool(speaker, /why a request is refused/);
    const diagnosis = await speaker.read(diagnose, { identifier, request: request.id });
    assert.deepEqual([diagnosis['accepted'], diagnosis['failedCheck']], [false, 'mismatch']);

    await speaker.read(await findTool(speaker, /Change members of one incoming webhook/),
      { identifier, secret: 'the right secret' });
    const mended = await speaker.read(diagnose, { identifier, request: request.id });
    assert.equal(mended['accepted'], true);
    const tried = await speaker.read('webhook_try', { identifier, event: 'push' });
    assert.deepEqual([tried['accepted'], tried['failedCheck']], [true, null]);

    assert.ok(await sendPush(url + path, 'the right secret') < 300);
    const next = await speaker.read(wait,
      { hook: identifier, status: 'done', after: request.id, seconds: 30 });
    const replayed = await speaker.read(await findTool(speaker, /Run one kept request again/),
      { id: Object(next)['request'].id });
    assert.match(String(replayed['status']), /^(pending|done)$/);
  }, OPEN));
