import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { maintenanceRoutes } from '../../src/maintenance/maintenance-routes.ts';
import { callApi } from '../../src/server/local/api-call.ts';
import { createMemoryTarget } from '../../src/server/local/memory-target.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import { Dispatcher } from '../../src/server/routing/dispatcher.ts';
import type { BackupSources } from '../../src/store/backup/backup.ts';
import type { OpenedStore } from '../../src/store/store.ts';

test('a list of the files of a backup names what is in them, and leaves none of them open',
  async () => {
    let openCount = 0;
    const contents = { sequence: 7, records: { books: 3 } };
    const files = [{ name: 'journal-000001.jsonl', bytes: 100 }];
    const store = {
      replica: null,
      async openBackupSources() {
        openCount += 1;
        return { files, contents, close: () => void (openCount -= 1) } as unknown as BackupSources;
      },
    } as OpenedStore;
    const dispatcher = new Dispatcher({
      routes: maintenanceRoutes(store), guard: null, clock: systemClock,
      logger: silentLogger, metrics: new Metrics(), bodyBytesMax: 1000, accessLog: 'off',
      trustProxy: false,
    });
    const target = createMemoryTarget(dispatcher.listeners('control').request);
    const { body } = await callApi(target, { method: 'GET', path: '/control/data/backup' });
    assert.deepEqual(body, { files, ...contents, isReplica: false });
    assert.equal(openCount, 0);
  });
