/** GET /metrics of a real server: sound as an exposition, and right in what it counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAppServer } from '../support/app-server.ts';
import { parseExposition } from '../support/exposition.ts';
import { VERSION } from '../../src/base/version.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { FlappingTarget } from './relay-target.ts';
import type { Mood } from './relay-target.ts';

test('the figures can be scraped, and count every request under its template', () =>
  withAppServer(async ({ url }) => {
    const added = await ask(`${url}/api/books`, { method: 'POST', body: { title: 'A' } });
    const path = added.headers.location ?? '';
    const asked: readonly (readonly [string, string])[] = [
      ['GET', path], ['GET', path], ['HEAD', path], ['GET', '/api/books/none'],
      ['GET', '/api/books?limit=0'], ['PUT', '/api/books'], ['GET', '/nowhere/"\\'],
      ['OPTIONS', '/api/books'], ['POST', '/webhook/in/none'], ['DELETE', path],
    ];
    for (const [method, target] of asked) await ask(url + target, { method });
    const { text, headers } = await ask(`${url}/metrics`);
    assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
    const families = parseExposition(text);
    const counts = families.get('hookshelf_http_requests_total')?.samples;
    const count = (route: string, method: string, status: number) =>
      counts?.get(`{route="${route}",method="${method}",status="${status}"}`);
    assert.deepEqual([
      count('/api/books', 'POST', 201), count('/api/books/{id}', 'GET', 200),
      count('/api/books/{id}', 'HEAD', 200), count('/api/books/{id}', 'GET', 404),
      count('/api/books', 'GET', 400), count('/api/books/{id}', 'DELETE', 204),
      count('/webhook/in/{pathSegment}', 'POST', 404), count('unmatched', 'GET', 404),
    ], [1, 2, 1, 1, 1, 1, 1, 1]);
    const total = [...counts?.values() ?? []].reduce((sum, one) => sum + one, 0);
    assert.equal(total, asked.length + 1);
    const durations = families.get('hookshelf_http_request_duration_seconds');
    assert.ok((durations?.samples.size ?? 0) > 0);
    assert.equal(families.get('hookshelf_store_transactions_total')?.samples.get('{}'), 2);
    assert.ok(!text.includes(path.slice('/api/books/'.length)), 'no id is a label');
  }));

test('what runs, how late it is, and what becomes of deliveries is told', () =>
  withAppServer(async ({ url }) => {
    const target = new FlappingTarget();
    await target.open();
    try {
      const read = async (name: string): Promise<Record<string, number>> => {
        const { text } = await ask(`${url}/metrics`);
        return Object.fromEntries(parseExposition(text).get(name)?.samples ?? []);
      };
      const started = (await read('process_start_time_seconds'))['{}'] ?? 0;
      assert.ok(Math.abs(started - Date.now() / 1000) < 600);
      assert.equal((await read('process_start_time_seconds'))['{}'], started);
      const [info] = Object.entries(await read('hookshelf_build_info'));
      const [labels = '', value] = info ?? [];
      assert.deepEqual(labels.split(',').filter((label) => !label.startsWith('commit="')),
        [`{version="${VERSION}"`, `node="${process.versions.node}"}`]);
      assert.equal(value, 1);
      for (const which of ['mean', 'p50', 'p99', 'max']) {
        const lag = (await read(`nodejs_eventloop_lag_${which}_seconds`))['{}'] ?? -1;
        assert.ok(lag >= 0 && lag < 60, `${which}: ${lag}`);
      }
      const hooks: string[] = [];
      for (const triggerEvent of ['good', 'bad']) {
        const body = { targetUrl: target.url, triggerEvent };
        const made = await ask(`${url}/api/outgoing-webhooks`, { method: 'POST', body });
        hooks.push(JSON.parse(made.text).identifier);
      }
      const emit = async (name: string, moment: Mood): Promise<void> => {
        await target.turn(moment);
        await ask(`${url}/api/events`, { method: 'POST', body: { name, payload: {} } });
        const outcome = moment === 'up' ? 'delivered' : 'failed';
        const key = `{outcome="${outcome}"}`;
        await until(`a delivery is ${outcome}`, async () =>
          (await read('hookshelf_delivery_attempts_total'))[key] === 1);
      };
      await emit('good', 'up');
      assert.deepEqual(await read('hookshelf_delivery_failures_total'), {});
      await emit('bad', 'failing');
      assert.deepEqual(await read('hookshelf_delivery_failures_total'),
        { [`{hook="${hooks[1]}"}`]: 1 });
      // `other` stands for webhooks that have no series of their own.
      for (const [name, label] of [['crm', 'crm'], ['other', hooks[1]]]) {
        const path = `${url}/api/outgoing-webhooks/${hooks[1]}`;
        assert.equal((await ask(path, { method: 'PATCH', body: { name } })).status, 200);
        assert.deepEqual(await read('hookshelf_delivery_failures_total'),
          { [`{hook="${label}"}`]: 1 });
      }
      const latency = await read('hookshelf_delivery_latency_seconds');
      assert.deepEqual([latency['_count{}'], latency['_bucket{le="+Inf"}']], [1, 1]);
      assert.ok((latency['_sum{}'] ?? -1) >= 0);
      assert.equal((await read('hookshelf_delivery_attempt_duration_seconds'))['_count{}'], 2);
    } finally {
      await target.close();
    }
  }));
