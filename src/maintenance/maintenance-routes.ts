/** Routes that maintain the data directory, on the control socket only. */
import type { HttpRoute } from '../server/http-route.ts';
import type { OpenedStore } from '../store/store.ts';

export function maintenanceRoutes(store: OpenedStore): readonly HttpRoute[] {
  return [
    {
      method: 'POST', path: '/control/data/compact', operationId: 'compactData',
      summary: 'Write a new generation beside traffic', access: 'control',
      responses: [{ status: 200, description: 'The generation, its sequence, the engine if any' }],
      async handle(exchange) {
        await store.compact();
        const { generation, sequence } = store.statistics;
        const engine = store.replica?.engine ?? null;
        exchange.sendJson(200, { generation, sequence, engine });
      },
    },
    {
      method: 'GET', path: '/control/data/backup', operationId: 'listBackup',
      summary: 'The files that a start of this moment would read', access: 'control',
      responses: [{ status: 200, description: 'Their names, how much of each, what they make up' }],
      async handle(exchange) {
        // The files are opened for their names and lengths alone: the command opens and copies them
        // (backup.ts), as it may be allowed to write where the server is not.
        const sources = await store.openBackupSources();
        sources.close();
        exchange.sendJson(200, {
          files: sources.files.map(({ name, bytes }) => ({ name, bytes })), ...sources.contents,
          isReplica: store.replica !== null,
        });
      },
    },
  ];
}
