/** Two requests beside each other: in what they differ. The other one is chosen from a list. */
import { href } from '../../base/address.ts';
import { get, send } from '../../base/api.ts';
import { h } from '../../base/dom.ts';
import { exact, time } from '../../base/format.ts';
import { parsedJson } from '../../base/json-text.ts';
import { badge } from '../../parts/badge.ts';
import { openDialog } from '../../parts/dialog.ts';
import { pathWith } from '../../parts/lists/filters.ts';
import { table } from '../../parts/table.ts';
import { requestPath } from './record.ts';
import type { RequestRecord } from './record.ts';

const CHOICES = 50;
/** Longer bodies are compared by their hash alone. */
const BODY_BYTES_MAX = 1 << 20;
const SHOWN_LENGTH_MAX = 1000;

/** Offers the latest requests of the same webhook. */
export async function chooseOther(
  place: HTMLElement, { id, hook }: RequestRecord,
): Promise<void> {
  const latest = await get<readonly RequestRecord[]>(
    pathWith('/api/requests', { hook, limit: String(CHOICES + 1) }));
  if (!place.isConnected) return;
  const others = latest.filter((one) => one.id !== id);
  const dialog = openDialog('Compare with which request?', [
    others.length === 0 ? h('p', {}, 'No other request of this webhook is kept.')
      : h('ul', { class: 'log' }, ...others.map((other) => h('li', {},
        h('a', {
          href: href(['requests', id], { with: other.id }), onclick: () => dialog.close(),
        }, exact(other.receivedAt)),
        ' ', badge(other.status), ` ${other.event ?? ''} ${other.eventId ?? ''}`))),
    h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel')),
  ]);
}

/** Members, headers and members of the body in which they differ. */
export async function comparison(request: RequestRecord, otherId: string): Promise<HTMLElement> {
  const other = await get<RequestRecord>(requestPath(otherId));
  const [left = {}, right = {}] = await Promise.all([request, other].map(comparable));
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((name) => left[name] !== right[name]);
  return h('section', {},
    h('h2', {}, 'Compared with ', h('a', { href: href(['requests', otherId]) },
      'the one of ', time(other.receivedAt))),
    names.length === 0 ? h('p', {}, 'They are the same.') : table(['', 'This one', 'The other'],
      names.map((name) => [name, ...[left, right].map((one) =>
        h('code', {}, one[name]?.slice(0, SHOWN_LENGTH_MAX) ?? '–'))])));
}

async function comparable(request: RequestRecord): Promise<Record<string, string>> {
  const { method, path, query, client, status, bodySha256, verdict } = request;
  const flat: Record<string, string> = {
    method, path, query, client, status, bodySha256, event: request.event ?? '–',
    'failed check': verdict.failedCheck ?? '–',
  };
  for (const [name, value] of request.headers) flat[name.toLowerCase()] = value;
  if (request.bodyBytes <= BODY_BYTES_MAX && request.bodyBytes > 0) {
    const text = await (await send('GET', `${requestPath(request.id)}/body`)).text();
    flatten('body', parsedJson(text) ?? text, flat);
  }
  return flat;
}

function flatten(name: string, value: unknown, flat: Record<string, string>): void {
  if (typeof value !== 'object' || value === null) {
    flat[name] = String(value);
    return;
  }
  for (const [member, inner] of Object.entries(value)) flatten(`${name}.${member}`, inner, flat);
}
