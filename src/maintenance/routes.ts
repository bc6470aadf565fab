/** Maintenance of the data directory: on the control socket only. */
import { isAbsolute } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { parseObject } from '../base/fields.ts';
import type { ObjectSchema } from '../base/schema.ts';
import { problemAnswers } from '../server/problem.ts';
import type { Route } from '../server/route.ts';
import { writeBackup } from '../store/backup/backup.ts';
import { diskError } from '../store/disk-error.ts';
import type { Files } from '../store/files.ts';
import type { OpenedStore } from '../store/store.ts';

const BACKUP_SCHEMA: ObjectSchema = {
  kind: 'object',
  name: 'Backup',
  members: {
    to: {
      schema: {
        kind: 'string', maxLength: 4096, description: 'an absolute path',
        canonical: (value) => isAbsolute(value) ? value : null,
      },
      isRequired: true,
      description: 'An empty or new directory, or a new file that ends in .tar',
    },
  },
};

export function maintenanceRoutes(parts: {
  readonly store: OpenedStore; readonly files: Files; readonly clock: Clock;
}): readonly Route[] {
  const { store } = parts;
  return [
    {
      method: 'POST', path: '/control/data/compact', operationId: 'compactData',
      summary: 'Write a new generation beside traffic', access: 'control',
      answers: [{ status: 200, description: 'The generation and its sequence' }],
      async handle(exchange) {
        await store.compact();
        const { generation, sequence } = store.statistics;
        exchange.sendJson(200, { generation, sequence });
      },
    },
    {
      method: 'POST', path: '/control/data/backup', operationId: 'backupData',
      summary: 'Copy a consistent generation without stopping writes', access: 'control',
      body: { mediaTypes: ['application/json'], schema: BACKUP_SCHEMA },
      answers: [
        { status: 200, description: 'What was copied, and where to' }, ...problemAnswers(409, 422),
      ],
      async handle(exchange) {
        const { to } = parseObject(BACKUP_SCHEMA, await exchange.readJson());
        exchange.sendJson(200, await backUp(parts, String(to)));
      },
    },
  ];
}

async function backUp(
  { store, files, clock }: Parameters<typeof maintenanceRoutes>[0], to: string,
): Promise<{ readonly to: string; readonly files: number; readonly bytes: number }> {
  const backup = await store.openBackup();
  try {
    await writeBackup(files, backup, to, clock.now());
    const bytes = backup.files.reduce((sum, file) => sum + file.bytes, 0);
    return { to, files: backup.files.length, bytes };
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    // The target's disk, not ours: nothing is wrong with the store.
    const error = diskError(`cannot write ${to}`, thrown);
    throw error.code === 'storage_full' ? error
      : new AppError('conflict', error.message, {}, thrown);
  } finally {
    backup.close();
  }
}
