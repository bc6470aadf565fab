/** Compares two requests: chooses the other one from a list, and shows the differences. */
import { apiPath, appendQuery, href } from '../../base/screen-address.ts';
import { getJson, sendRequest } from '../../base/api-calls.ts';
import { h } from '../../base/dom.ts';
import { formatTimestamp, timeElement } from '../../base/format.ts';
import { NumberText, parseJsonOrText } from '../../base/json-text.ts';
import { badge } from '../../parts/badge.ts';
import { openDialog } from '../../parts/dialog.ts';
import { plainTable } from '../../parts/tables.ts';
import { describeRequest } from './request-text.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';

const CHOICES_MAX = 50;
/** Longer bodies are compared only by their hash. */
const BODY_BYTES_MAX = 1 << 20;
const VALUE_LENGTH_MAX = 1000;

/** Offers the latest requests of the same webhook. */
export async function openCompareDialog(
  container: HTMLElement, { id, hook }: PublicRequest,
): Promise<void> {
  const latest = await getJson<readonly PublicRequest[]>(
    appendQuery('/api/requests', { hook, limit: String(CHOICES_MAX + 1) }));
  if (!container.isConnected) return;
  const others = latest.filter((request) => request.id !== id);
  const dialog = openDialog('Compare with which request?', [
    others.length === 0 ? h('p', 'No other request of this webhook is kept.')
      : h('ul.log', {}, ...others.map((other) => h('li',
        h('a', {
          href: href(['requests', id], { with: other.id }), onclick: () => dialog.close(),
        }, formatTimestamp(other.receivedAt)),
        ' ', badge(other.status), ` ${describeRequest(other)} ${other.eventId ?? ''}`))),
  ], { close: 'Cancel' });
}

/** A table of the members, headers and members of the body that differ. */
export async function compareRequests(
  request: PublicRequest, otherId: string,
): Promise<HTMLElement> {
  const other = await getJson<PublicRequest>(apiPath('requests', otherId));
  const [left = {}, right = {}] = await Promise.all([request, other].map(flattenRequest));
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((name) => left[name] !== right[name]);
  const rows = names.map((name) => [name, ...[left, right].map((one) =>
    h('code', one[name]?.slice(0, VALUE_LENGTH_MAX) ?? '–'))]);
  return h('section',
    h('h2', 'Compared with ', h('a', { href: href(['requests', otherId]) },
      'the one of ', timeElement(other.receivedAt))),
    names.length === 0 ? h('p', 'They are the same.')
      : plainTable(['', 'This one', 'The other'], rows));
}

async function flattenRequest(request: PublicRequest): Promise<Record<string, string>> {
  const { method, path, query, client, status, bodySha256, verdict } = request;
  const flat: Record<string, string> = {
    method, path, query, client, status, bodySha256, event: request.event ?? '–',
    'failed check': verdict.failedCheck ?? '–',
  };
  for (const [name, value] of request.headers) flat[name.toLowerCase()] = value;
  if (request.bodyBytes <= BODY_BYTES_MAX && request.bodyBytes > 0) {
    const text = await (await sendRequest('GET', apiPath('requests', request.id, 'body'))).text();
    flattenValue('body', parseJsonOrText(text), flat);
  }
  return flat;
}

function flattenValue(name: string, value: unknown, flat: Record<string, string>): void {
  if (typeof value !== 'object' || value === null || value instanceof NumberText) {
    flat[name] = String(value);
    return;
  }
  for (const [member, inner] of Object.entries(value)) {
    flattenValue(`${name}.${member}`, inner, flat);
  }
}
