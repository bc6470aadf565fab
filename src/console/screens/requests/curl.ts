/** A request as a curl line that repeats it; what was not kept stands as it is shown, `***`. */
import { BASE } from '../../base/api.ts';
import type { RequestRecord } from './record.ts';

const LEFT_OUT = ['host', 'content-length', 'connection', 'transfer-encoding', 'expect'];

export function curlOf({ method, path, query, headers, id, bodyBytes }: RequestRecord): string {
  const url = `${location.origin}${BASE}${path}${query === '' ? '' : `?${query}`}`;
  const lines = [`curl -X ${quote(method)} ${quote(url)}`];
  for (const [name, value] of headers) {
    if (!LEFT_OUT.includes(name.toLowerCase())) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  }
  if (bodyBytes === 0) return lines.join(' \\\n  ');
  const body = `${location.origin}${BASE}/api/requests/${id}/body`;
  return `curl -s ${quote(body)} -H "Authorization: Bearer $HOOKSHELF_API_TOKEN" \\\n  | `
    + [...lines, '--data-binary @-'].join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}
