/** The Prometheus text format 0.0.4, read as strictly as `promtool check metrics` does. */
import assert from 'node:assert/strict';

export type Family = { readonly type: string; readonly samples: Map<string, number> };

const SAMPLE = /^([a-z_0-9]+)(?:\{((?:[a-z_0-9]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\S+)$/;
const LABEL = /([a-z_0-9]+)="((?:[^"\\]|\\.)*)"/g;
// What promtool says of names: base units, written out, and no name of a type.
const BAD_UNITS = /_(ms|millis|milliseconds|micros|minutes|hours|days|kb|mb|percent)(_|$)/;
const BAD_WORDS = /(^|_)(counter|gauge|histogram|summary)(_|$)/;

/** By family; throws on what a scraper would stumble over or a linter complain of. */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'));
  const families = new Map<string, Family>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, helped] = /^# HELP ([a-z_0-9]+) \S/.exec(line) ?? [];
    const [, typed, type = ''] = /^# TYPE ([a-z_0-9]+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (helped !== undefined) {
      assert.ok(!families.has(helped), `${helped} stands twice`);
      current = helped;
    } else if (typed !== undefined) {
      assert.equal(typed, current);
      checkName(typed, type);
      families.set(typed, { type, samples: new Map() });
    } else {
      addSample(families, current, line);
    }
  }
  for (const [name, family] of families) {
    if (family.type === 'histogram') checkHistogram(name, family);
  }
  return families;
}

function checkName(name: string, type: string): void {
  assert.equal(name.endsWith('_total'), type === 'counter', `${name}: a counter ends in _total`);
  assert.ok(!/_(bucket|sum|count|info_total)$/.test(name), `${name}: a reserved ending`);
  assert.ok(!BAD_UNITS.test(name) && !BAD_WORDS.test(name), `${name}: a unit or a type`);
  assert.ok(type !== 'histogram' || /_(seconds|bytes)$/.test(name), `${name}: a unit is missing`);
}

function addSample(families: ReadonlyMap<string, Family>, current: string, line: string): void {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  const family = families.get(current);
  assert.ok(family !== undefined, line);
  const isOwn = family.type === 'histogram'
    ? [`${current}_bucket`, `${current}_sum`, `${current}_count`].includes(name)
    : name === current;
  assert.ok(isOwn && Number.isFinite(Number(value)), line);
  assert.ok(family.type !== 'counter' || Number(value) >= 0, line);
  const names = [...labels.matchAll(LABEL)].map(([, label]) => label ?? '');
  assert.equal(new Set(names).size, names.length, `${line}: a label stands twice`);
  assert.equal(names.includes('le'), name.endsWith('_bucket'), line);
  const key = `${name.slice(current.length)}{${labels}}`;
  assert.ok(!family.samples.has(key), `${line} stands twice`);
  family.samples.set(key, Number(value));
}

/** Each series has rising bounds and counts, a last bucket without end, a sum and a count. */
function checkHistogram(name: string, { samples }: Family): void {
  const last = new Map<string, { readonly bound: number; readonly count: number }>();
  for (const [key, count] of samples) {
    const [, inner, bound = ''] = /^_bucket\{(?:(.*),)?le="([^"]+)"\}$/.exec(key) ?? [];
    if (!key.startsWith('_bucket')) continue;
    const series = inner ?? '';
    const limit = bound === '+Inf' ? Infinity : Number(bound);
    const before = last.get(series) ?? { bound: -Infinity, count: 0 };
    assert.ok(limit > before.bound && count >= before.count, `${name}${key}`);
    last.set(series, { bound: limit, count });
  }
  for (const [series, { bound, count }] of last) {
    assert.equal(bound, Infinity, `${name}{${series}}: no +Inf`);
    assert.equal(samples.get(`_count{${series}}`), count, `${name}{${series}}`);
    assert.ok(samples.has(`_sum{${series}}`), `${name}{${series}}: no sum`);
  }
}
