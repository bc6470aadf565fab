/** A request in a line. */
import { escapeControls } from '../../../base/text/printable.ts';
import { formatBytes } from '../../base/format.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';

/** The event, or the method and the beginning of the body. */
export function describeRequest({ event, method, bodyStart, bodyBytes }: PublicRequest): string {
  if (event !== null) return event;
  if (bodyBytes === 0) return `${method} without a body`;
  return bodyStart === null ? `${method}, ${formatBytes(bodyBytes)}`
    : `${method} ${escapeControls(bodyStart.replace(/\s+/g, ' '))}`;
}
