/**
 * Every setting, through a real start, with what it visibly changes: each eighth of them, in a long
 * run all. A setting without a row fails, so that none is read, checked and shown without reaching
 * what it is for.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SETTING_ROWS } from '../../src/settings/setting-table.ts';
import { IS_LONG, longTest, someOf } from '../support/long.ts';
import { CLIENT_ROWS } from './settings/client-rows.ts';
import { COMMAND_ROWS } from './settings/command-rows.ts';
import { INBOX_ROWS } from './settings/inbox-rows.ts';
import { withServer } from './settings/place.ts';
import { RELAY_ROWS } from './settings/relay-rows.ts';
import { SERVER_ROWS } from './settings/server-rows.ts';

const ROWS = { ...SERVER_ROWS, ...CLIENT_ROWS, ...RELAY_ROWS, ...INBOX_ROWS, ...COMMAND_ROWS };
/** The store's need a database: see test/nodes. */
const ELSEWHERE = ['store.url', 'store.passwordFile', 'actions.maxMemory'];

test('every setting has its row', () => {
  const named = new Set(SETTING_ROWS.map(({ name }) => name));
  const seen = new Set([...Object.keys(ROWS), ...ELSEWHERE]);
  assert.deepEqual([...named].filter((name) => !seen.has(name)), [], 'without a row');
  assert.deepEqual([...seen].filter((name) => !named.has(name)), [], 'no settings');
});

// One after the other: what a test leaves running is ended with it.
describe('a setting reaches what it is for', () => {
  for (const [name, { value, beside = {}, observe, changed, standard, isShared }] of
    someOf(Object.entries(ROWS), 8)) {
    test(name, async () => {
      assert.deepEqual(await withServer({ ...beside, [name]: value }, [observe]), [changed]);
      assert.notDeepEqual(standard, changed);
      // Those that need a server of their own for it: in a long run.
      if (standard === undefined || isShared || !IS_LONG) return;
      assert.deepEqual(await withServer(beside, [observe]), [standard], 'by default');
    });
  }
});

describe('without the setting it is otherwise', () => {
  const shared = Object.entries(ROWS).filter(([, { isShared }]) => isShared);
  const groups = new Map(shared.map(([, { beside = {} }]) => [JSON.stringify(beside), beside]));
  for (const [key, beside] of groups) {
    const rows = shared.filter(([, row]) => JSON.stringify(row.beside ?? {}) === key);
    longTest(`with ${key}`, async () => {
      const seen = await withServer(beside, rows.map(([, { observe }]) => observe));
      assert.deepEqual(rows.map(([name], index) => [name, seen[index]]),
        rows.map(([name, { standard }]) => [name, standard]));
    });
  }
});
