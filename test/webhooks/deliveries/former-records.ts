/** Records as version 1.0 wrote them: deliveries that embed event or body, and shared events. */

const AT = '2026-01-01T00:00:00.000Z';

/** A delivery with its event embedded, as its last members. */
export function encodeFormerDelivery(
  identifier: string, hook: string | null,
  members: {
    readonly event?: string | null; readonly status?: string; readonly more?: string;
    readonly eventMembers?: string;
  } = {},
): string {
  const { event = 'thing.happened', status = 'pending', more = '' } = members;
  const { eventMembers = '"depth":1,"deliveries":[],"payload":{"n":1}' } = members;
  const hookMember = hook === null ? '' : `,"hook":"${hook}"`;
  const eventMember = event === null ? '' : `,"event":${JSON.stringify(event)}`;
  return `{"identifier":"${identifier}","createdAt":"${AT}","status":"${status}"`
    + `${hookMember}${eventMember}${more},${eventMembers}}`;
}

/** A delivery of an event that is a record. */
export function encodeFormerShare(
  identifier: string, hook: string, eventId: string, status = 'pending',
): string {
  const message = eventId === identifier ? '' : `,"message":"${eventId}"`;
  return `{"identifier":"${identifier}","createdAt":"${AT}","status":"${status}"`
    + `,"hook":"${hook}","event":"thing.happened"${message}}`;
}

/** An event that several deliveries share. */
export function encodeFormerEvent(
  identifier: string, deliveries: readonly string[], payload = '{"n":1}',
): string {
  return `{"identifier":"${identifier}","createdAt":"${AT}","name":"thing.happened","depth":1`
    + `,"deliveries":${JSON.stringify(deliveries)},"payload":${payload}}`;
}

/** The mark that stood beside an event when all of its deliveries were finished. */
export function encodeFormerMark(eventId: string, bytes: number): string {
  return `{"identifier":"${eventId}~","bytes":${bytes}}`;
}
