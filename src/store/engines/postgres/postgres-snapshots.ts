/** Stores snapshots in PostgreSQL: first their parts, then the row that completes a snapshot. */
import { AppError } from '../../../base/errors.ts';
import type { EngineSnapshots } from '../engine.ts';
import type { QueryResult } from './driver.ts';
import { encodePart, decodePart, decodeSnapshot } from './rows.ts';
import {
  COMPLETE_SNAPSHOT, LIST_SNAPSHOTS, READ_PART, REMOVE_REMAINS, REMOVE_SNAPSHOT, WRITE_PART,
} from './statements.ts';

type Ask = (text: string, parameters: readonly (string | number)[]) => Promise<QueryResult>;

export function createPostgresSnapshots(ask: Ask): EngineSnapshots {
  return {
    list: async () => (await ask(LIST_SNAPSHOTS, [])).rows.map(decodeSnapshot),
    readPart: async ({ sequence, chain }, part) => {
      const { rows: [row] } = await ask(READ_PART, [sequence, chain, part]);
      if (row !== undefined) return decodePart(row);
      throw new AppError('unavailable', `part ${part} of the snapshot at ${sequence} is not there`);
    },
    writePart: async ({ sequence }, part, { sha256, bytes }) => {
      await ask(WRITE_PART, [sequence, part, sha256, encodePart(bytes)]);
    },
    complete: async ({ sequence, chain }, parts) => {
      const { rows } = await ask(COMPLETE_SNAPSHOT, [sequence, chain, parts]);
      if (rows.length === 0) {
        throw new AppError('unavailable', `parts of the snapshot at ${sequence} have been removed`);
      }
      await ask(REMOVE_REMAINS, [sequence]);
    },
    remove: async ({ sequence, chain }) => void await ask(REMOVE_SNAPSHOT, [sequence, chain]),
  };
}
