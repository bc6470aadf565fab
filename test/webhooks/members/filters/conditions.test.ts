import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import { parseObject } from '../../../../src/base/fields.ts';
import type { ObjectSchema } from '../../../../src/base/schema.ts';
import {
  conditionSchema, findConditionProblems, type Condition,
} from '../../../../src/webhooks/members/filters/condition.ts';
import { explainCondition } from '../../../../src/webhooks/members/filters/explain-condition.ts';
import { Facts, type ContainsTest } from '../../../../src/webhooks/members/filters/facts.ts';
import { prepareCondition } from '../../../../src/webhooks/members/filters/prepare-condition.ts';
import { IS_LONG } from '../../../support/long.ts';
import { evaluateNaively, type NaiveFacts } from '../../../support/naive-condition.ts';
import { below, createRandom, type Random } from '../../../support/random.ts';

const CASES = IS_LONG ? 300_000 : 10_000;
const PAYLOADS_A_CONDITION = 30;

const NAMES = [
  'a', 'b', 'action', '0', '1', '01', '-1', 'length', '__proto__', 'constructor', 'toString',
  'hasOwnProperty', 'payload', 'A', 'é', ' ', 'a b', 'push',
];
const TEXTS = [
  '', 'a', 'b', 'ab', 'ba', 'aba', 'A', '1', '0', 'true', 'null', 'é', '\u0000', '😀',
];
const NUMBERS = [0, 1, -1, 0.5, 1e300, -1e-9, 10, 9];
const OPERATORS = [
  'eq', 'ne', 'in', 'exists', 'prefix', 'suffix', 'contains', 'lt', 'lte', 'gt', 'gte',
];

const WHEN: ObjectSchema = {
  kind: 'object', members: { when: { schema: conditionSchema } },
  check: ({ when }) => findConditionProblems(when, '/when'),
};

function parse(when: unknown): Condition {
  return parseObject(WHEN, { when })['when'] as unknown as Condition;
}

function factsOf({ payload, headers, query, event, method }: NaiveFacts): Facts {
  return new Facts({
    payload: () => payload, event: () => event, method,
    headers: Object.fromEntries(headers),
    query: new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]))
      .toString(),
  });
}

test('says what the naive evaluator says, and why', () => {
  const random = createRandom(20_261_122);
  const counts = { true: 0, false: 0 };
  for (let done = 0; done < CASES; done += PAYLOADS_A_CONDITION) {
    const given = randomCondition(random, 1);
    const condition = parse(given);
    const searches: ContainsTest[] = [];
    const holds = prepareCondition(condition, searches);
    for (let index = 0; index < PAYLOADS_A_CONDITION; index += 1) {
      const naive = randomFacts(random);
      const expected = evaluateNaively(given, naive);
      const told = (): string => JSON.stringify({ given, naive });
      const facts = factsOf(naive);
      if (holds(facts) !== expected) assert.equal(holds(facts), expected, told());
      counts[expected ? 'true' : 'false'] += 1;
      if (index > 0) continue;
      const searched = factsOf(naive);
      for (const _ of searched.searchAhead(searches));
      assert.equal(holds(searched), expected, told());
      const failed = explainCondition(condition, facts, '');
      assert.equal(failed.length === 0, expected, told());
      for (const { pointer } of failed) assert.notEqual(at(given, pointer), undefined, told());
    }
  }
  assert.ok(counts.true > CASES / 10 && counts.false > CASES / 10, JSON.stringify(counts));
});

function at(value: unknown, pointer: string): unknown {
  return pointer.split('/').slice(1)
    .reduce((found, step) => (found as Record<string, unknown> | undefined)?.[step], value);
}

function pick<T>(random: Random, list: readonly T[]): T {
  const picked = list[below(random, list.length)];
  assert.ok(picked !== undefined);
  return picked;
}

function randomCondition(random: Random, depth: number): Record<string, unknown> {
  const kind = depth === 5 ? 'path' : pick(random, ['path', 'path', 'all', 'any', 'not']);
  if (kind === 'not') return { not: randomCondition(random, depth + 1) };
  if (kind !== 'path') {
    return { [kind]: Array.from({ length: 1 + below(random, 3) }, () =>
      randomCondition(random, 5 - below(random, 2) * below(random, 5 - depth))) };
  }
  const op = pick(random, OPERATORS);
  const value = randomValue(random, op);
  return { path: randomPath(random), op, ...value === undefined ? {} : { value } };
}

function randomValue(random: Random, op: string): unknown {
  if (op === 'exists') return pick(random, [[true], [false], [undefined]])[0];
  if (op === 'in') return Array.from({ length: 1 + below(random, 4) }, () => scalar(random));
  if (op === 'prefix' || op === 'suffix') return pick(random, TEXTS);
  if (op.startsWith('l') || op.startsWith('g')) {
    return random() < 0.5 ? pick(random, TEXTS) : pick(random, NUMBERS);
  }
  const value = scalar(random);
  return op === 'ne' && value === null ? false : value;
}

function scalar(random: Random): unknown {
  return pick(random, [
    [pick(random, TEXTS)], [pick(random, TEXTS)], [pick(random, NUMBERS)], [true], [false], [null],
  ])[0];
}

function randomPath(random: Random): string {
  const source = pick(random,
    ['payload', 'payload', 'payload', 'headers', 'query', 'event', 'method']);
  const names = Array.from({ length: below(random, 3) }, () => pick(random, NAMES));
  if (source === 'payload') return [source, ...names].join('.');
  return source === 'headers' || source === 'query' ? `${source}.${pick(random, NAMES)}` : source;
}

/** As it would come: made of JSON text, so that `__proto__` is a member. */
function randomFacts(random: Random): NaiveFacts {
  const pairs = (): [string, string][] => Array.from({ length: below(random, 3) }, () =>
    [pick(random, NAMES), pick(random, TEXTS)]);
  const headers = new Map(pairs().map(([name, value]) => [name.toLowerCase(), value]));
  return {
    payload: JSON.parse(randomJson(random, 3)), headers: [...headers], query: pairs(),
    event: random() < 0.3 ? null : pick(random, TEXTS), method: pick(random, ['POST', 'a', 'ab']),
  };
}

function randomJson(random: Random, depth: number): string {
  const kind = depth === 0 ? 0 : below(random, 4);
  if (kind === 0) return JSON.stringify(scalar(random));
  const count = below(random, 5);
  if (kind === 1) {
    return `[${Array.from({ length: count }, () => randomJson(random, depth - 1)).join()}]`;
  }
  const members = new Map(Array.from({ length: count }, () =>
    [pick(random, NAMES), randomJson(random, depth - 1)]));
  return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`;
}

const PAYLOAD = { action: 'opened', n: 5, gone: null, tags: ['a', 1, null], deep: { x: true } };

const TABLE: readonly (readonly [string, string, unknown, boolean])[] = [
  ['payload.n', 'ne', 'opened', false], ['payload.none', 'ne', 'a', false],
  ['payload.action', 'ne', 'closed', true], ['payload.gone', 'eq', null, true],
  ['payload.none', 'eq', null, false], ['payload.gone', 'exists', true, true],
  ['payload.none', 'exists', false, true], ['payload', 'exists', true, true],
  ['payload.tags', 'contains', null, true], ['payload.tags', 'contains', '1', false],
  ['payload.tags.1', 'eq', 1, true], ['payload.tags.01', 'exists', true, false],
  ['payload.tags.length', 'exists', true, false], ['payload.action.0', 'exists', true, false],
  ['payload.constructor', 'exists', true, false], ['payload.__proto__', 'exists', true, false],
  ['payload.deep.x', 'in', [true], true], ['payload.n', 'in', ['5'], false],
  ['payload.n', 'gt', 4.5, true], ['payload.n', 'gt', '4', false],
  ['headers.X-Event', 'prefix', 'pu', true], ['headers.x-event', 'suffix', 'sh', true],
  ['headers.constructor', 'exists', true, false], ['headers.a.b', 'eq', 'dotted', true],
  ['query.page', 'eq', '2', true], ['query.page', 'eq', 2, false], ['query.a b', 'eq', 'c+', true],
  ['event', 'in', ['push', 'pull'], true], ['method', 'eq', 'POST', true],
];

test('reads own members only, and compares within one type', () => {
  const facts = new Facts({
    payload: () => PAYLOAD, event: () => 'push', method: 'POST',
    headers: { 'x-event': 'push', 'a.b': 'dotted' }, query: 'page=2&page=3&a+b=c%2B',
  });
  for (const [path, op, value, expected] of TABLE) {
    const condition = parse({ path, op, value });
    assert.equal(prepareCondition(condition)(facts), expected, `${path} ${op} ${String(value)}`);
  }
});

test('asks for the payload and the event at most once, and only when a path does', () => {
  let asked = 0;
  const ask = (): string => {
    asked += 1;
    return 'x';
  };
  const facts = new Facts({ payload: ask, event: ask, method: 'POST' });
  assert.ok(prepareCondition(parse({ path: 'method', op: 'eq', value: 'POST' }))(facts));
  assert.equal(asked, 0);
  const both = parse({ all: ['event', 'payload', 'event', 'payload'].map((path) =>
    ({ path, op: 'eq', value: 'x' })) });
  assert.ok(prepareCondition(both)(facts));
  assert.equal(asked, 2);
});

test('explains each part that would have to be another, and hides secrets', () => {
  const facts = new Facts({
    payload: () => ({ a: 1, token: 'planted', cookies: ['planted'], secret: { of: 'planted' } }),
    event: () => null,
  });
  const condition = parse({ all: [
    { path: 'payload.a', op: 'eq', value: 1 },
    { any: [
      { path: 'payload.a', op: 'gt', value: 1 }, { path: 'event', op: 'eq', value: 'push' },
    ] },
    { not: { path: 'payload.a', op: 'exists' } },
    { path: 'payload.token', op: 'in', value: ['planted too'] },
    { path: 'payload.cookies.0', op: 'eq', value: 'planted too' },
    { path: 'payload.secret.of', op: 'eq', value: 'planted too' },
  ] });
  const failed = explainCondition(condition, facts, '/routes/0/when');
  assert.deepEqual(failed, [
    { pointer: '/routes/0/when/all/1/any/0', detail: 'payload.a is 1, wanted: gt 1' },
    { pointer: '/routes/0/when/all/1/any/1', detail: 'event is not there, wanted: eq "push"' },
    { pointer: '/routes/0/when/all/2/not', detail: 'payload.a is 1, wanted: not exists' },
    { pointer: '/routes/0/when/all/3', detail: 'payload.token is ***, wanted: in' },
    { pointer: '/routes/0/when/all/4', detail: 'payload.cookies.0 is ***, wanted: eq' },
    { pointer: '/routes/0/when/all/5', detail: 'payload.secret.of is ***, wanted: eq' },
  ]);
});

test('explains a `not` by the conditions within it that would have to be different', () => {
  const facts = new Facts({ payload: () => ({ a: 1, token: 'planted' }), event: () => null });
  const is = (path: string, value: unknown): object => ({ path, op: 'eq', value });
  const [one, two] = [is('payload.a', 1), is('payload.a', 2)];
  const [isOne, isNotTwo] = ['payload.a is 1, wanted: not eq 1', 'payload.a is 1, wanted: eq 2'];
  for (const [condition, failures] of [
    [{ not: one }, [['/not', isOne]]],
    [{ not: two }, []],
    [{ not: { all: [one, two] } }, []],
    [{ not: { all: [one, { not: two }] } },
      [['/not/all/0', isOne], ['/not/all/1/not', isNotTwo]]],
    [{ not: { any: [one, two] } }, [['/not/any/0', isOne]]],
    [{ not: { not: two } }, [['/not/not', isNotTwo]]],
    [{ not: is('payload.token', 'planted') }, [['/not', 'payload.token is ***, wanted: not eq']]],
    [is('payload.password', 'x'), [['', 'payload.password is not there, wanted: eq']]],
  ] as const) {
    const failed = explainCondition(parse(condition), facts, '');
    assert.deepEqual(failed.map(({ pointer, detail }) => [pointer, detail]), failures);
  }
});

test('a long array is not walked for each condition that asks for an element', () => {
  let walked = 0;
  const tags = new Proxy(Array.from({ length: 1000 }, (_, index) => index), {
    get(array, name, receiver) {
      if (typeof name === 'string' && /^[0-9]+$/.test(name)) walked += 1;
      return Reflect.get(array, name, receiver);
    },
  });
  const facts = new Facts({ payload: () => ({ tags }), event: () => null });
  for (let value = 0; value < 2000; value += 1) {
    const condition = parse({ path: 'payload.tags', op: 'contains', value });
    assert.equal(prepareCondition(condition)(facts), value < 1000, String(value));
  }
  assert.ok(walked <= 3000, String(walked));
});

const ONE = { path: 'event', op: 'exists' };

test('a refusal says what to write instead', () => {
  const refusals: readonly (readonly [unknown, string, RegExp])[] = [
    [{ path: 'payload.a', op: 'in', value: [[1]] }, '/when/value', /must be an array of texts/],
    [{ path: 'payload.a', op: 'eq', value: [[1]] }, '/when/value', /must be text, a number/],
    [{ path: 'payload[0].a', op: 'exists' }, '/when/path', /payload\.0\.name, not payload\[0\]/],
    [{ path: 'Payload.a', op: 'exists' }, '/when/path', /did you mean `payload`/],
    [{ all: [{ any: new Array(25).fill(ONE) }, { any: new Array(26).fill(ONE) }] }, '/when',
      /must hold at most 50 conditions with a path, not 51/],
  ];
  for (const [when, pointer, detail] of refusals) {
    assert.throws(() => parse(when), (error) => {
      assert.ok(error instanceof AppError);
      const [first] = error.details.errors ?? [];
      assert.equal(first?.pointer, pointer);
      assert.match(first.detail, detail);
      return true;
    });
  }
});

test('a hostile condition is refused in bounded time', () => {
  let deep: unknown = { path: 'event', op: 'exists' };
  for (let level = 0; level < 60; level += 1) deep = { all: Array.from({ length: 1 }, () => deep) };
  assert.throws(() => parse(deep), AppError);
  const wide = Array.from({ length: 50 }, () => ({ any: Array.from({ length: 50 }, () => deep) }));
  assert.throws(() => parse({ all: wide }), AppError);
});

test('searches that are made ahead are made in small steps, and not again', () => {
  const texts = Array.from({ length: 20 }, (_, index) => `b${'a'.repeat(200 + index)}`);
  const long = 'a'.repeat(100_000) + texts[7];
  const elements = Array.from({ length: 50_000 }, (_, index) => index);
  const searches: ContainsTest[] = [];
  const predicates = [
    ...texts.map((value) => ({ path: 'payload.long', op: 'contains', value })),
    ...[1, 49_999, 50_000].map((value) => ({ path: 'payload.list', op: 'contains', value })),
    { not: { any: [{ path: 'payload.none', op: 'contains', value: 'a' }] } },
  ].map((when) => prepareCondition(parse(when), searches));
  assert.equal(searches.length, 24);
  let reads = 0;
  const payload = { long, list: elements };
  const facts = new Facts({
    payload() {
      reads += 1;
      return payload;
    },
    event: () => null,
  });
  let steps = 0;
  for (const _ of facts.searchAhead(searches)) steps += 1;
  assert(steps >= 4 + 50 + 50, `${steps} steps`);
  // What is not there any more is not searched.
  payload.long = '';
  payload.list = [];
  const results = predicates.map((predicate) => predicate(facts));
  assert.deepEqual(results, [
    ...texts.map((_, index) => index <= 7), true, true, false, true,
  ]);
  assert.equal(reads, 1);
});

test('a thousand searches of a megabyte take the time of few', () => {
  const text = 'a'.repeat(1 << 20);
  const searches: ContainsTest[] = [];
  for (let index = 0; index < 980; index += 1) {
    const value = `${'a'.repeat(60)}${index}`;
    prepareCondition(parse({ path: 'payload.text', op: 'contains', value }), searches);
  }
  const facts = new Facts({ payload: () => ({ text }), event: () => null });
  const before = process.cpuUsage();
  for (const _ of facts.searchAhead(searches));
  const { user } = process.cpuUsage(before);
  // Some 50 ms; one by one they take five seconds.
  assert(user < 1_000_000, `${user} µs`);
});
