/** The nodes that share the log, over HTTP. */
import type { AnswerOf } from '../base/schema-types.ts';
import {
  FLAG, TEXT, arraySchema, listResponse, objectSchema, sendList, COUNT, TIME,
} from '../resources/route-specs.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { SHARDS } from './node-records.ts';

export const nodeSchema = objectSchema('Node', {
  identifier: TEXT,
  isSelf: [FLAG, 'Whether it is the node that responds'],
  isLive: [FLAG, 'Whether its last beat came within the length of its leases'],
  version: TEXT, address: TEXT, startedAt: TIME,
  lastHeardAt: [TIME, 'By the clock of the node that responds'],
  position: [COUNT, 'The last sequence that it had applied at that time'],
  lag: [COUNT, 'Transactions by which that was behind the log'],
  shards: arraySchema({ kind: 'integer', minimum: 0, maximum: SHARDS - 1 }),
}, { nullable: ['address'] });

/** A node as the API shows it. */
export type NodeView = AnswerOf<typeof nodeSchema>;

export function createNodeRoutes(list: () => readonly NodeView[]): readonly HttpRoute[] {
  return [{
    method: 'GET', path: '/api/nodes', operationId: 'listNodes', access: 'read',
    summary: 'The processes that share the log of an engine; none without an engine',
    responses: [listResponse('By identifier, with the shards of webhooks whose work each does',
      nodeSchema)],
    handle: (exchange) => sendList(exchange, list()),
  }];
}
