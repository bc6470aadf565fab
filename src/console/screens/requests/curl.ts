/** A request as a curl line that repeats it; what was not kept stands as it is shown, `***`. */
import { BASE, get } from '../../base/api.ts';
import { session } from '../../base/session.ts';
import { shellQuote } from '../../base/shell-quote.ts';
import { requestPath } from './record.ts';
import type { RequestRecord } from './record.ts';

const LEFT_OUT = ['host', 'content-length', 'connection', 'transfer-encoding', 'expect'];

export async function curlOf(request: RequestRecord): Promise<string> {
  const { method, path, id, bodyBytes } = request;
  // Who may write may also see the signatures, without which nothing is accepted.
  const { query, headers } = session.may('write')
    ? await get<RequestRecord>(`${requestPath(id)}/headers`) : request;
  const url = `${location.origin}${BASE}${path}${query === '' ? '' : `?${query}`}`;
  const lines = [`curl -X ${shellQuote(method)} ${shellQuote(url)}`];
  for (const [name, value] of headers) {
    if (!LEFT_OUT.includes(name.toLowerCase())) lines.push(`-H ${shellQuote(`${name}: ${value}`)}`);
  }
  if (bodyBytes === 0) return lines.join(' \\\n  ');
  const body = `${location.origin}${BASE}/api/requests/${id}/body`;
  return `curl -s ${shellQuote(body)} -H "Authorization: Bearer $HOOKSHELF_API_TOKEN" \\\n  | `
    + [...lines, '--data-binary @-'].join(' \\\n  ');
}
