/**
 * Identifiers of the deliveries of a request to its routes: `<request>.<n>`, where n counts from 0
 * in the order in which the routes were added. They are only ever deleted all at once, with their
 * request. So those of a request are found, also within a transaction, by asking for one number
 * after the other until there is none.
 */
const SEPARATOR = '.';
const SEPARATOR_CODE = SEPARATOR.charCodeAt(0);
const REQUEST_ID_LENGTH = 36;

export function createRouteDeliveryId(request: string, index: number): string {
  return `${request}${SEPARATOR}${index}`;
}

/** The ids of other deliveries are UUIDs. */
export function isRouteDeliveryId(id: string): boolean {
  return id.charCodeAt(REQUEST_ID_LENGTH) === SEPARATOR_CODE;
}

export function parseRequestId(deliveryId: string): string {
  return deliveryId.slice(0, REQUEST_ID_LENGTH);
}

export function parseRouteIndex(deliveryId: string): number {
  return Number(deliveryId.slice(REQUEST_ID_LENGTH + 1));
}
