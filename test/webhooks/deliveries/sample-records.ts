/** Records of events and their deliveries, for tests that write them past the publisher. */

const AT = '2026-01-01T00:00:00.000Z';

/** A delivery of an event. */
export function encodeSampleDelivery(
  identifier: string, hook: string, eventId: string, status = 'pending',
): string {
  return `{"identifier":"${identifier}","status":"${status}","updatedAt":"${AT}"`
    + `,"message":"${eventId}","hook":"${hook}","event":"thing.happened"}`;
}

/** An event with these deliveries, all to one webhook. */
export function encodeSampleEvent(identifier: string, deliveries: readonly string[]): string {
  return `{"identifier":"${identifier}","createdAt":"${AT}","name":"thing.happened"`
    + `,"source":"api","depth":1,"hooks":${JSON.stringify(deliveries.map(() => 'h1'))}`
    + `,"deliveries":${JSON.stringify(deliveries)},"payload":{"n":1}}`;
}
