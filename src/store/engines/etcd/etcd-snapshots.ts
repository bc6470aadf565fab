/** Stores snapshots in etcd: first their parts, then the key that makes a snapshot complete. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseKeyValues, filterObjects } from './etcd-responses.ts';
import type { Gateway } from './etcd-gateway.ts';
import {
  decodePart, decodeSnapshot, encodeFloor, encodePart, encodeSnapshot,
} from './etcd-keys.ts';
import type { Keys } from './etcd-keys.ts';
import type { EngineSnapshot, EngineSnapshots } from '../engine.ts';

export function createEtcdSnapshots(gateway: Gateway, keys: Keys): EngineSnapshots {
  return {
    async list(): Promise<readonly EngineSnapshot[]> {
      const range = await gateway.sendRepeatable('/v3/kv/range', {
        key: keys.snapshot(0), range_end: keys.snapshotsEnd,
      });
      return parseKeyValues(range).map(({ value }) => decodeSnapshot(value)).reverse();
    },
    async readPart({ sequence }, part) {
      const key = keys.part(sequence, part);
      const range = await gateway.sendRepeatable('/v3/kv/range', { key });
      const [match] = parseKeyValues(range);
      if (match !== undefined) return decodePart(match.value);
      throw new AppError('damaged', `${gateway.address.name}: part ${part} of the snapshot at `
        + `sequence ${sequence} is not there any more`);
    },
    async writePart({ sequence }, part, content) {
      // A second put writes the same bytes, so `sendRepeatable`, which may send twice, is safe.
      await gateway.sendRepeatable('/v3/kv/put', {
        key: keys.part(sequence, part), value: encodePart(content),
      });
    },
    async complete(at, parts) {
      const put = [{
        request_put: { key: keys.snapshot(at.sequence), value: encodeSnapshot(at, parts) },
      }];
      const response = await gateway.sendRepeatable('/v3/kv/txn', {
        // A trim past this sequence has removed parts of this snapshot.
        compare: [{
          key: keys.floor, target: 'VALUE', result: 'LESS', value: encodeFloor(at.sequence + 1),
        }],
        success: put,
        // There may be no log yet: one may be created after the snapshot that it begins with.
        failure: [{ request_txn: {
          compare: [{ key: keys.floor, target: 'CREATE', result: 'EQUAL', create_revision: '0' }],
          success: put,
        } }],
      });
      if (response.succeeded === true) return;
      const [{ response_txn: noLogResponse } = {}] = filterObjects(response.responses);
      if (isJsonObject(noLogResponse) && noLogResponse.succeeded === true) return;
      throw new AppError('unavailable',
        `${gateway.address.name}: the log was trimmed past sequence `
        + `${at.sequence} while a snapshot of it was written; the next one will do`);
    },
    async remove({ sequence }) {
      await gateway.sendRepeatable('/v3/kv/deleterange', { key: keys.snapshot(sequence) });
      await gateway.sendRepeatable('/v3/kv/deleterange', {
        key: keys.parts(sequence), range_end: keys.partsEnd(sequence),
      });
    },
  };
}
