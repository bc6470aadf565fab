import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFollowers } from '../../../src/cli/commands/operation/doctor-followers.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const LEVEL = {
  name: 'box2', isConnected: true, behindTransactions: 0, behindSeconds: 0,
  seenAt: '2026-01-01T00:00:00.000Z',
};

test('copies that follow are told, and those that are late are warned of', () => {
  for (const [followers, status, detail] of [
    [[LEVEL], 'ok', /^1 copy follows, level$/],
    [[LEVEL, { ...LEVEL, behindTransactions: 7, behindSeconds: 2 }], 'ok',
      /^2 copies follow, at most 7 transactions behind$/],
    [[LEVEL, { ...LEVEL, name: 'b', behindTransactions: 7, behindSeconds: 61 }], 'warning',
      /^copies are behind: b \(7 transactions, 61 s\)$/],
    [[{ ...LEVEL, isConnected: false }], 'ok',
      /^no copy is connected; 1 away, level when last heard$/],
    [[LEVEL, { ...LEVEL, isConnected: false }], 'ok',
      /^1 copy follows, level; 1 away, level when last heard$/],
    [[{ ...LEVEL, isConnected: false, behindTransactions: 1 }], 'warning',
      /box2 \(1 transactions, 0 s, away since 2026-01-01T00:00:00.000Z\)/],
    [Array(7).fill({ ...LEVEL, behindSeconds: 99 }), 'warning', /and 2 more$/],
  ] as const) {
    const finding = describeFollowers({ followers }, [], NOW_MS);
    assert.equal(finding.status, status, finding.detail);
    assert.match(finding.detail, detail);
  }
});

test('a token for a copy that nobody uses is warned of, unless it is of no use', () => {
  const token = { name: 'box2', scope: 'follow' };
  for (const [tokens, status] of [
    [[], 'ok'], [[{ ...token, scope: 'admin' }], 'ok'], [[token], 'warning'],
    [[{ ...token, revokedAt: '2026-01-01T00:00:00Z' }], 'ok'],
    [[{ ...token, expiresAt: '2026-01-01T00:00:00Z' }], 'ok'],
    [[{ ...token, expiresAt: '2026-01-03T00:00:00Z' }], 'warning'],
  ] as const) {
    const finding = describeFollowers({ followers: [] }, tokens, NOW_MS);
    assert.equal(finding.status, status, JSON.stringify(tokens));
  }
});
