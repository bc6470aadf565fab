import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  convertRejection, createLoginError, isLost,
} from '../../../../src/store/engines/postgres/postgres-errors.ts';

const at = { host: 'h.test:5432', user: 'u', database: 'b', password: null };
const errorOf = (code: string, message: string, severity?: string): Error =>
  Object.assign(new Error(message), { code, severity });

const ENTRIES: readonly (readonly [string, string, string, RegExp])[] = [
  ['28P01', 'password authentication failed', 'misconfigured', /no password was found/],
  ['3D000', 'no such database', 'misconfigured', /createdb -E UTF8 b/],
  ['CONNECT_TIMEOUT', 'write CONNECT_TIMEOUT undefined:undefined', 'unavailable',
    /^PostgreSQL at h\.test:5432 takes connections and does not answer; if that is a pool/],
  ['53300', 'too many connections for role "u"', 'unavailable', /for role "u"; a node needs two/],
  ['08P01', 'no more connections allowed (max_client_conn)', 'unavailable', /a node needs two/],
  ['57P03', 'the database system is starting up', 'unavailable', /does not let us in: the data/],
];
for (const [state, said, code, message] of ENTRIES) {
  test(`kept out by ${state}, we are told ${message.source}`, () => {
    const error = createLoginError(errorOf(state, said), at);
    assert.equal(error.code, code);
    assert.match(error.message, message);
  });
}

test('only an ERROR whose state says so is sure to have written nothing', () => {
  for (const [state, severity, expected] of [
    ['23505', 'ERROR', false], ['40001', 'ERROR', false], ['55P03', 'ERROR', false],
    ['40003', 'ERROR', true], ['25006', 'ERROR', true], ['57P01', 'FATAL', true],
    ['57P01', 'ERROR', true], ['08006', 'ERROR', true], ['53100', 'PANIC', true],
    ['CONNECTION_CLOSED', undefined, true],
  ] as const) assert.equal(isLost(errorOf(state, 'x', severity)), expected, state);
});

test('what was refused says what to do, and whether it can be run again', () => {
  for (const [state, code, isRepeatable] of [
    ['40001', 'unavailable', true], ['40P01', 'unavailable', true], ['55P03', 'unavailable', false],
    ['53100', 'storage_full', false], ['42501', 'misconfigured', false],
    ['23505', 'damaged', false],
  ] as const) {
    const refusal = convertRejection(errorOf(state, 'x', 'ERROR'));
    assert.deepEqual([refusal.code, refusal.isRepeatable], [code, isRepeatable], state);
  }
});
