import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBackups } from '../../../../src/cli/commands/operation/doctor-backups.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 12);

test('a backup of a running server that is late, failed, or of a time to come is warned of', () => {
  for (const [newestAt, failure, status, detail] of [
    ['2026-01-02T11:00:00.000Z', null, 'ok', /^the newest is of 2026-01-02T11:.*, in \/backups$/],
    ['2026-01-01T11:30:00.000Z', null, 'ok', /^the newest is of /],
    ['2026-01-01T10:00:00.000Z', null, 'warning', /^the newest is of 2026-01-01T10:/],
    // Two machines, or a clock that is just set, may differ by some seconds.
    ['2026-01-02T12:00:59.000Z', null, 'ok', /^the newest is of /],
    ['2026-01-02T12:02:00.000Z', null, 'warning', /T12:02:.*, which this clock has yet to reach$/],
    ['2031-01-01T00:00:00.000Z', null, 'warning', /^the newest is of 2031-/],
    [null, null, 'ok', /^another node makes them/],
    ['2026-01-02T11:00:00.000Z', { at: '2026-01-02T11:30:00.000Z', reason: 'full' }, 'failed',
      /^the last one failed at 2026-01-02T11:30:00.000Z: full$/],
  ] as const) {
    const backups = { to: '/backups', everyHours: 12, newestAt, failure };
    const finding = describeBackups(backups, NOW_MS);
    assert.equal(finding.status, status, String(newestAt));
    assert.match(finding.detail, detail);
  }
});
