/** GET /metrics of a real server: sound as an exposition, and right in what it counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './ask.ts';
import { inFolder, startServer } from './processes.ts';

type Family = { readonly type: string; readonly samples: Map<string, number> };

const SAMPLE = /^([a-z_]+)(?:\{((?:[a-z_]+="[^"\\\n]*",?)+)\})? ([0-9.eE+-]+)$/;

/** By family; throws on what a scraper would stumble over. */
function parseExposition(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'));
  const families = new Map<string, Family>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, helped] = /^# HELP ([a-z_]+) \S/.exec(line) ?? [];
    const [, typed, type = ''] = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (helped !== undefined) {
      assert.ok(!families.has(helped), `${helped} stands twice`);
      current = helped;
    } else if (typed !== undefined) {
      assert.equal(typed, current);
      families.set(typed, { type, samples: new Map() });
    } else {
      addSample(families, current, line);
    }
  }
  return families;
}

function addSample(families: ReadonlyMap<string, Family>, current: string, line: string): void {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  const family = families.get(current);
  assert.ok(family !== undefined, line);
  const isOwn = family.type === 'histogram'
    ? [`${current}_bucket`, `${current}_sum`, `${current}_count`].includes(name)
    : name === current;
  assert.ok(isOwn && Number.isFinite(Number(value)), line);
  const key = `${name.slice(current.length)}{${labels}}`;
  assert.ok(!family.samples.has(key), `${line} stands twice`);
  family.samples.set(key, Number(value));
}

function assertCumulative({ samples }: Family): void {
  const last = new Map<string, number>();
  for (const [key, value] of samples) {
    const [, series, bound] = /^_bucket\{(.*),le="([^"]+)"\}$/.exec(key) ?? [];
    if (series === undefined) continue;
    assert.ok(value >= (last.get(series) ?? 0), key);
    last.set(series, value);
    if (bound === '+Inf') assert.equal(value, samples.get(`_count{${series}}`), key);
  }
  assert.ok(last.size > 0);
}

test('the figures can be scraped, and count every request under its template', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    try {
      const { url } = server;
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
      assert.ok(durations !== undefined);
      assertCumulative(durations);
      assert.equal(families.get('hookshelf_store_transactions_total')?.samples.get('{}'), 2);
      assert.ok(!text.includes(path.slice('/api/books/'.length)), 'no id is a label');
    } finally {
      await server.stop();
    }
  }));
