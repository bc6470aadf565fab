/** The path of a request of the inbox in the API. */
export function requestPath(id: string): string {
  return `/api/requests/${encodeURIComponent(id)}`;
}
