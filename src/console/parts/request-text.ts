/** What a request was, what became of it, and why it was refused. */
import { escapeControls } from '../../base/text/printable.ts';
import { h } from '../base/dom.ts';
import { formatBytes, formatDuration } from '../base/format.ts';
import { badge } from './badge.ts';
import { formatCheck } from './webhook-cells.ts';
import type { PublicRequest } from '../../webhooks/inbox/request-schema.ts';

/** The event, or the method; and the beginning of the body, or that there is none. */
export function describeRequest(
  { event, method, bodyStart, bodyBytes }: PublicRequest,
): { readonly name: string; readonly body: string } {
  const unread = bodyBytes === 0 ? 'no body' : formatBytes(bodyBytes);
  return {
    name: event ?? method,
    body: bodyBytes === 0 || bodyStart === null ? unread
      : escapeControls(bodyStart.replace(/\s+/g, ' ')),
  };
}

/** null: the request was not refused. */
export function formatRefusal({ verdict }: PublicRequest): string | null {
  const { accepted, failedCheck } = verdict;
  if (accepted) return null;
  return formatCheck(failedCheck ?? 'not accepted');
}

/** The status; as of a delivery, what is pending after an attempt that failed is called failing. */
export function requestBadge({ status, routes }: PublicRequest): HTMLElement {
  return badge(routes.some(isRouteFailing) ? 'failing' : status);
}

export function routeBadge(route: PublicRequest['routes'][number]): HTMLElement {
  return badge(isRouteFailing(route) ? 'failing' : route.status);
}

function isRouteFailing({ status, attempts }: PublicRequest['routes'][number]): boolean {
  return status === 'pending' && attempts.length > 0;
}

/** The status, and why it was refused. */
export function requestStatus(request: PublicRequest): HTMLElement {
  const refusal = formatRefusal(request);
  return h('span', { title: refusal }, requestBadge(request), ' ',
    refusal === null ? null : h('span.place', refusal));
}

/** '' if it was not answered yet. */
export function formatAnswer({ answered }: PublicRequest): string {
  return answered === null ? '' : `${answered.status} in ${formatDuration(answered.afterMs)}`;
}
