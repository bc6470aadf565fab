import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, createRedactingLogger, silentLogger } from '../../src/base/log.ts';
import type { Logger, LogLevel } from '../../src/base/log.ts';
import { LogLines } from '../../src/monitoring/log-lines.ts';

const ALL = { level: null, requestId: null, after: 0 };

/** Both ways to a log: a process's own, and that of a program that embeds us. */
const LOGGERS: Readonly<Record<string, (lines: LogLines, level: LogLevel) => Logger>> = {
  'of a process': (lines, level) => createLogger({
    level, format: 'pretty', write() {}, now: () => 0, keep: (line) => lines.add(line),
  }),
  'of a program that embeds us': (lines, level) => createRedactingLogger(silentLogger, {
    level, now: () => 0, keep: (line) => lines.add(line),
  }),
};

for (const [name, loggerFor] of Object.entries(LOGGERS)) {
  test(`lines are kept as they are written, without secrets: the log ${name}`, () => {
    const lines = new LogLines();
    const logger = loggerFor(lines, 'info');
    logger.debug('below the level');
    logger.info('at http://user:planted@host/', {
      password: 'planted', path: '/x?token=planted', error: new Error('key: ?secret=planted'),
    });
    const [line, ...others] = lines.read(ALL);
    assert.deepEqual(others, []);
    assert.deepEqual([line?.number, line?.level, line?.time],
      [1, 'info', '1970-01-01T00:00:00.000Z']);
    assert.equal(line?.message, 'at http://***@host/');
    assert.equal(line?.fields['password'], '***');
    assert.ok(!JSON.stringify(line).includes('planted'));
  });
}

function filled(count: number): LogLines {
  const lines = new LogLines();
  for (let index = 1; index <= count; index += 1) {
    lines.add({
      time: '1970-01-01T00:00:00.000Z', level: index % 100 === 0 ? 'error' : 'info',
      message: `line ${index}`, fields: { requestId: `request-${index % 7}` },
    });
  }
  return lines;
}

test('the last thousand lines are there, oldest first', () => {
  for (const count of [0, 1, 999, 1000, 1001, 2500]) {
    const found = filled(count).read(ALL);
    assert.equal(found.length, Math.min(count, 1000));
    assert.equal(found.at(-1)?.number, count === 0 ? undefined : count);
    assert.ok(found.every(({ number, message }, index) =>
      message === `line ${number}` && number === (found[0]?.number ?? 0) + index));
  }
});

test('lines are found by level and graver, by request, and after a number', () => {
  const lines = filled(2500);
  assert.deepEqual(lines.read({ ...ALL, level: 'warning' }).map(({ number }) => number),
    [1600, 1700, 1800, 1900, 2000, 2100, 2200, 2300, 2400, 2500]);
  const ofRequest = lines.read({ ...ALL, requestId: 'request-3' });
  assert.ok(ofRequest.length > 100);
  assert.ok(ofRequest.every(({ number }) => number % 7 === 3));
  assert.deepEqual(lines.read({ ...ALL, after: 2498 }).map(({ number }) => number), [2499, 2500]);
  assert.deepEqual(lines.read({ ...ALL, after: 9999 }), []);
});

test('after a restart the lines of before are before those that come', () => {
  const line = { level: 'info', message: 'listening', fields: {} } as const;
  const [before, after] = ['2026-11-23T10:00:00.000Z', '2026-11-23T10:00:05.000Z'].map((time) => {
    const lines = new LogLines();
    for (let count = 0; count < 3000; count += 1) lines.add({ time, ...line });
    return lines;
  });
  const last = before?.read(ALL).at(-1)?.number ?? 0;
  assert.equal(after?.read({ ...ALL, after: last }).length, 1000);
});

test('a long line is kept without its fields, and a long message is cut', () => {
  const lines = new LogLines();
  lines.add({
    time: '1970-01-01T00:00:00.000Z', level: 'info', message: 'x'.repeat(1e6),
    fields: { a: 'y'.repeat(1e6) },
  });
  const text = JSON.stringify(lines.read(ALL));
  assert.ok(text.length < 2000);
  assert.match(text, /"leftOut":"1000008 characters"/);
});
