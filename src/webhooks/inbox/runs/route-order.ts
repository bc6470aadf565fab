/**
 * The place and the lane of the delivery of a request to a route, in the queue of its webhook. Its
 * place is when it went to the queue. Its lane is that of the route, or of its key, which is read
 * from the request each time: it is stored nowhere.
 */
import { parseTimestamp } from '../../../base/clock.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { findCommitted } from '../../../store/find-record.ts';
import type { Store } from '../../../store/store-port.ts';
import type { Delivery } from '../../deliveries/delivery.ts';
import { parseRequestId } from '../../deliveries/route-delivery-id.ts';
import { getRequestBody } from '../request-body.ts';
import { findRequest } from '../request-codec.ts';
import type { StoredRequest } from '../../incoming/stored-request.ts';
import type { RecentRequests } from '../intake/recent-requests.ts';
import { createStoredFacts } from '../intake/stored-facts.ts';
import type { LastBody } from '../../incoming/receiving/incoming-body.ts';
import type { ReadyIncomingWebhook } from '../../incoming/receiving/incoming-webhook-index.ts';
import { createPlace, type LaneName } from '../../work/task.ts';

type RequestSource = {
  readonly store: Store;
  readonly recentRequests: RecentRequests;
  readonly lastBody: LastBody;
};

/** Describes the orders of a webhook's routes as text; null: none of them has one. */
export function describeOrders(webhook: ReadyIncomingWebhook | undefined): string | null {
  const { routes = [] } = webhook ?? {};
  return routes.every(({ order }) => order === 'none') ? null
    : JSON.stringify(routes.map(({ name, order }) => [name, order]));
}

/** The place of a delivery, which may have gone to the queue after its request had come. */
export function placeOf({ identifier, queuedAt }: Delivery): string {
  return queuedAt === null ? identifier : createPlace(parseTimestamp(queuedAt), identifier);
}

/** Finds the lane of a delivery; null: its route keeps no order, or it has no key. */
export function findRouteLane(
  source: RequestSource, { identifier, route }: Pick<Delivery, 'identifier' | 'route'>,
  webhook: ReadyIncomingWebhook | undefined,
): LaneName | null {
  const { name: routeName = '', order = 'none', readKey = null } =
    webhook?.routes.find(({ name }) => name === route) ?? {};
  if (order === 'strict') return { name: routeName, key: null };
  if (webhook === undefined || readKey === null) return null;
  const requestWithBody = findWithBody(source, parseRequestId(identifier));
  if (requestWithBody === undefined) return null;
  const { request, body } = requestWithBody;
  const key = readKey(createStoredFacts(request, body, webhook.bodyReading, source.lastBody), null);
  // Names of routes have no spaces.
  return key === null ? null : { name: `${routeName} ${encodeJson(key)}`, key };
}

function findWithBody(
  { store, recentRequests }: RequestSource, requestId: string,
): { readonly request: StoredRequest; readonly body: Buffer } | undefined {
  const recent = recentRequests.get(requestId);
  if (recent !== undefined) return { request: recent.stored.item, body: recent.body };
  const find = findCommitted(store);
  const request = findRequest(find, requestId);
  return request && { request, body: getRequestBody(request, find) };
}
