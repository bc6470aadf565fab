import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, redacting } from '../../src/base/log.ts';
import { redact } from '../support/redact.ts';

/** What custom actions, which nobody checks the types of, may log. */
const MESSAGES: readonly [unknown, RegExp][] = [
  [{ token: 'planted', a: 1 }, /"token":"\*\*\*","a":1/], [new TypeError('broken'), /broken/],
  [5, /^5$/], [undefined, /^undefined$/],
];

test('a message of any type is logged, its secrets replaced, and never thrown about', () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug', format: 'json', write: (line) => lines.push(line), now: () => 0,
  });
  for (const [message, expected] of MESSAGES) {
    for (const log of [logger, redacting(logger)]) {
      const info = log.info as (message: unknown) => void;
      info(message);
      assert.match(String(JSON.parse(lines.at(-1) ?? '').message), expected);
      assert.doesNotMatch(lines.at(-1) ?? '', /planted/);
    }
  }
});

test('shows bytes by their number and dates by their time', () => {
  const body = Buffer.alloc(1 << 20, 'planted');
  const view = new Float64Array(2);
  assert.deepEqual(redact({ body, view, at: new Date(0), never: new Date(NaN) }), {
    body: '<1048576 bytes>', view: '<16 bytes>', at: '1970-01-01T00:00:00.000Z', never: null,
  });
});

test('shows an object that contains itself once', () => {
  const ring: Record<string, unknown> = { name: 'ring' };
  for (let count = 0; count < 20; count += 1) ring[`again${count}`] = { ring };
  const shared = { a: 1 };
  const text = JSON.stringify(redact({ ring, twice: [shared, shared] }));
  assert.match(text, /^\{"ring":\{"name":"ring","again0":\{"ring":"…"\}/);
  assert.match(text, /"twice":\[\{"a":1\},\{"a":1\}\]\}$/);
});
