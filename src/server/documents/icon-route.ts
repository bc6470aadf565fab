/** `GET /favicon.ico`: the mark of the project, three books on a shelf with a hook below it. */
import type { HttpRoute } from '../http-route.ts';

/** Filled, so that it is visible on light and on dark tabs. */
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
  + '<rect width="32" height="32" rx="7" fill="#0b6e4f"/>'
  + '<path d="M9 14V6m5 8V4m5 10V8M5 17h22M16 17v6a4 4 0 0 0 8 0" fill="none" stroke="#fff" '
  + 'stroke-width="3" stroke-linecap="round"/></svg>';

/** The link for the head of a page; `path` leads from the page to the root of the service. */
export function iconLink(path: string): string {
  return `<link rel="icon" type="image/svg+xml" href="${path}favicon.ico">`;
}

/** Browsers ask for this path by themselves, and go by the media type, not by the name. */
export function iconRoute(): HttpRoute {
  return {
    method: 'GET',
    path: '/favicon.ico',
    operationId: 'getIcon',
    summary: 'The icon of the pages',
    access: 'public',
    responses: [{
      status: 200, description: 'The icon', mediaType: 'image/svg+xml', schema: { kind: 'string' },
    }],
    handle: (exchange) => exchange.send(200, [
      'Content-Type', 'image/svg+xml', 'Cache-Control', 'max-age=86400',
    ], ICON),
  };
}
