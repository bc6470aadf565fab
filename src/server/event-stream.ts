/** The headers of server-sent events (HTML Living Standard §9.2), the same for all our streams. */

export const EVENT_STREAM = 'text/event-stream';

export const EVENT_STREAM_HEADERS = [
  'Content-Type', EVENT_STREAM,
  // A proxy that compresses or buffers would hold events back.
  'Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no',
] as const;
