/** The nodes that share the log, over HTTP. */
import type { Schema } from '../base/schema.ts';
import {
  TEXT, arraySchema, listResponse, objectSchema, sendList, COUNT, TIME,
} from '../resources/route-specs.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { SHARDS } from './node-records.ts';

/** A node as the API shows it. */
export type NodeView = {
  readonly identifier: string;
  /** Whether it is the node that responds. */
  readonly isSelf: boolean;
  /** Whether its last beat came within the length of its leases. */
  readonly isLive: boolean;
  readonly version: string;
  readonly address: string | null;
  readonly startedAt: string;
  /** By the clock of the node that responds. */
  readonly lastHeardAt: string;
  /** The last sequence that it had applied at that time. */
  readonly position: number;
  /** Transactions by which that was behind the log. */
  readonly lag: number;
  readonly shards: readonly number[];
};

const flag: Schema = { kind: 'boolean' };

export function createNodeRoutes(list: () => readonly NodeView[]): readonly HttpRoute[] {
  return [{
    method: 'GET', path: '/api/nodes', operationId: 'listNodes', access: 'read',
    summary: 'The processes that share the log of an engine; none without an engine',
    responses: [listResponse('By identifier, with the shards of webhooks whose work each does',
      objectSchema('Node', {
        identifier: TEXT, isSelf: flag, isLive: flag, version: TEXT, address: TEXT,
        startedAt: TIME, lastHeardAt: TIME, position: COUNT, lag: COUNT,
        shards: arraySchema({ kind: 'integer', minimum: 0, maximum: SHARDS - 1 }),
      }, { nullable: ['address'] }))],
    handle: (exchange) => sendList(exchange, list()),
  }];
}
