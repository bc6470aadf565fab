import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { answer, closedPort, startServer } from '../support/servers.ts';
import { startRelay } from './relay.ts';
import { turnsUntil } from '../support/turns.ts';
import { createActionClass } from './context.ts';

const PLANTED = {
  incoming: 'planted-incoming-secret', outgoing: 'planted-outgoing-secret',
  header: 'planted-header-value', password: 'planted-url-password',
  option: 'planted-option-token', broken: 'planted-broken-secret',
  parameter: 'planted "url parameter',
};

const Loud = createActionClass('loud', (_: unknown, __: unknown, options: { apiToken: string }) => {
  throw Object.assign(new Error('loud'), { options, url: `http://u:${PLANTED.password}@h/` });
});

test('no planted secret gets into any log line, error or answer', async () => {
  const target = await startServer({ onRequest: ({ socket }) => void socket.write(answer(500)) });
  const relay = await startRelay({ actions: [Loud], outgoing: { retrySchedule: [0.001] } });
  relay.webhooks.start();
  const texts: string[] = [];
  const ask: typeof relay.ask = async (...request) => {
    const answered = await relay.ask(...request);
    texts.push(answered.text, JSON.stringify(answered.headers));
    return answered;
  };
  const headers = { 'X-Custom': PLANTED.header };
  const withPassword = (url: string): string =>
    `${url.replace('http://', `http://u:${PLANTED.password}@`)}?api%4bey=${PLANTED.parameter}`;
  const deadUrl = withPassword(`http://127.0.0.1:${await closedPort()}/`);
  const configurations = [
    { actionType: 'http-forward', options: { url: deadUrl, headers } },
    { actionType: 'http-forward', options: { url: withPassword(target.url()), headers } },
    { actionType: 'http-forward', options: { url: deadUrl, headers, mode: 'queue' } },
    { actionType: 'loud', options: { apiToken: PLANTED.option } },
    { actionType: 'log', options: { level: 'error' } },
  ];
  for (const [index, configuration] of configurations.entries()) {
    const made = await ask('POST', '/api/action-configurations', configuration);
    await ask('POST', '/api/incoming-webhooks', {
      pathSegment: `hook-${index}`, actionConfiguration: made.json['identifier'],
      secret: PLANTED.incoming,
    });
    const body = JSON.stringify({ secret: PLANTED.option, password: PLANTED.option });
    const signature = createHmac('sha256', PLANTED.incoming).update(body).digest('hex');
    await ask('POST', `/webhook/in/hook-${index}`, body, { 'X-Signature': `sha256=${signature}` });
    await ask('POST', `/webhook/in/hook-${index}`, body, { 'X-Signature': 'sha256=wrong' });
    await ask('GET', `/api/incoming-webhooks/hook-${index}/examples`);
    assert.ok(!relay.logLines.some((line) => line.includes(signature)));
  }
  for (const targetUrl of [deadUrl, withPassword(target.url())]) {
    const made = await ask('POST', '/api/outgoing-webhooks', {
      targetUrl, headers, secret: PLANTED.outgoing, triggerEvent: 'x',
    });
    const path = `/api/outgoing-webhooks/${String(made.json['identifier'])}`;
    await ask('POST', `${path}/send`);
    await ask('PATCH', path, { secret: PLANTED.broken, httpMethod: 'bad' });
    await ask('PATCH', path, { headers: { Host: PLANTED.header }, targetUrl: 'bad' });
    await ask('PATCH', path, { secret: `whsec_?${PLANTED.broken}` });
  }
  await ask('POST', '/api/events', { name: 'x', payload: { token: PLANTED.option } });
  await turnsUntil(() => relay.webhooks.deliveries.totals().failed >= 3);
  for (const path of ['incoming-webhooks', 'outgoing-webhooks', 'action-configurations',
    'deliveries', 'actions', 'deliveries/reconcile']) await ask('GET', `/api/${path}`);
  await relay.close();
  await target.close();
  assert.ok(relay.logLines.length > 20 && texts.length > 40);
  for (const [name, secret] of Object.entries(PLANTED)) {
    // What comes last of it is what would be left where something took it for its end.
    const [end = ''] = secret.split(' ').slice(-1);
    for (const text of [...relay.logLines, ...texts]) {
      assert.ok(!text.includes(secret) && !text.includes(end), `${name} in ${text}`);
    }
  }
});
