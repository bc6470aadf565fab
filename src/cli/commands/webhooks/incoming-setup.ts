/** Commands that help while a sender is set up. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { ApiCall } from '../../../server/local/api-call.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { requestResource } from '../../../webhooks/inbox/request-resource.ts';
import {
  formatCoverage, describePresets as presetRows,
} from '../../../webhooks/senders/presets/describe-presets.ts';
import type { Tone } from '../../terminal/colour.ts';
import type { CommandContext } from '../context.ts';
import { readBytesOption, readJsonOption, readTextOption, withPayload } from '../input.ts';
import { identifierOf, objectOf, pathOf, textOf } from '../resource.ts';
import { headerOf } from './header-line.ts';
import { findIdentifier } from './incoming.ts';

export async function listPresets({ output }: CommandContext): Promise<number> {
  const rows = presetRows();
  await output.list(rows, [
    { title: 'PRESET', value: ({ name }) => name, isWhole: true },
    { title: 'SENDER', value: ({ sender }) => sender, isProse: true },
    { title: 'HEADER', value: ({ header }) => header, importance: 3 },
    { title: 'COVERS', value: formatCoverage, importance: 4 },
    { title: 'NEEDS', value: ({ needs }) => needs.join(', ') || '-', importance: 2 },
    { title: 'URL AND SECRET', value: ({ pasteUrl, pasteSecret }) =>
      `${pasteUrl}; ${pasteSecret}`, importance: 1 },
  ], 'no presets');
  return 0;
}

/** Sends what the sender would; exit code 1 when the answer is no success. */
export async function testIncoming(context: CommandContext): Promise<number> {
  const { given, output } = context;
  const event = given.find('event');
  const members = {
    ...event === undefined ? {} : { event }, handshake: given.has('handshake'),
  };
  const body = given.has('payload')
    ? withPayload(members, (await readJsonOption(context, 'payload')).bytes) : members;
  const session = await context.openSession();
  const hook = encodeURIComponent(await findIdentifier(context));
  const path = `/api/incoming-webhooks/${hook}/sample`;
  const sample = objectOf((await session.request({ method: 'POST', path, body })).body);
  const answer = await session.ask(callOf(sample));
  const contentType = answer.headers['content-type'] ?? null;
  await output.object({ status: answer.status, contentType, body: answer.body });
  if (sample['isAddressLimited'] === true) {
    output.note(session.isOverNetwork ? ADDRESS_CHECKED : ADDRESS_UNCHECKED);
  }
  return answer.status < 300 ? 0 : 1;
}

const ADDRESS_UNCHECKED = 'allowedAddresses was not checked, as the test calls through the control '
  + 'socket and has no address: incomingwebhook:diagnose --client checks one';

const ADDRESS_CHECKED = 'allowedAddresses was checked for the address that the server saw this '
  + 'test come from; the sender has another: incomingwebhook:diagnose --client checks that';

/** Throws `conflict` for a method that no command sends, such as HEAD. */
function callOf({ method: asked, path, headers, body }: JsonObject): ApiCall {
  const method = METHODS.find((one) => one === asked);
  if (method === undefined) {
    throw new AppError('conflict', `it cannot be tested with a command, which sends no ${
      textOf(asked)} request: run the call that incomingwebhook:show prints`);
  }
  return {
    method, path: textOf(path),
    headers: Object.fromEntries(Object.entries(isJsonObject(headers) ? headers : {})
      .map(([name, value]) => [name.toLowerCase(), textOf(value)])),
    ...typeof body === 'string' ? { body: Buffer.from(body, 'base64') } : {},
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', failed: 'bad', hint: 'warning' };

/** Exit code 1 when the request would not be accepted. */
export async function diagnoseIncoming(context: CommandContext): Promise<number> {
  const path = `${pathOf(incomingResource, await findIdentifier(context))}/diagnose`;
  const session = await context.openSession();
  const body = await receivedRequest(context);
  const diagnosis = objectOf((await session.request({ method: 'POST', path, body })).body);
  const { accepted, checks } = diagnosis;
  const { output } = context;
  if (output.isJson) await output.json(diagnosis);
  else {
    const rows = Array.isArray(checks) ? checks.map(objectOf) : [];
    await output.list(rows, [
      { title: 'CHECK', value: ({ check }) => textOf(check), isWhole: true },
      {
        title: 'STATUS', value: ({ status }) => textOf(status), isWhole: true,
        tone: ({ status }) => TONES[textOf(status)],
      },
      { title: 'FOUND', value: ({ finding }) => textOf(finding), isProse: true },
    ], '');
    await output.line(outcomeOf(diagnosis));
  }
  return accepted === true ? 0 : 1;
}

function outcomeOf({ accepted, failedCheck }: JsonObject): string {
  if (accepted === true) return 'would be accepted';
  // It is answered 200, as its sender has done all that it should.
  return failedCheck === 'duplicate' ? 'would be answered as a duplicate, and not run'
    : 'would be refused';
}

async function receivedRequest(context: CommandContext): Promise<JsonObject> {
  const { given } = context;
  const named = ['method', 'url', 'client', 'at'].flatMap((name): [string, string][] => {
    const value = given.find(name);
    return value === undefined ? [] : [[name, value]];
  });
  if (given.has('request')) {
    const request = await identifierOf(context, requestResource, 'request');
    return { ...Object.fromEntries(named), request };
  }
  const body = given.has('body-file')
    ? (await readBytesOption(context, 'body-file')).toString('base64') : '';
  const headers = headersOf(await readTextOption(context, 'headers-file'));
  return { ...Object.fromEntries(named), headers, body };
}

/** Exit code 1 when no route would run. */
export async function matchIncoming(context: CommandContext): Promise<number> {
  const path = `${pathOf(incomingResource, await findIdentifier(context))}/match`;
  const body = await requestToMatch(context);
  const session = await context.openSession();
  const match = objectOf((await session.request({ method: 'POST', path, body })).body);
  const { output } = context;
  const routes = Array.isArray(match['routes']) ? match['routes'].map(objectOf) : [];
  if (output.isJson) await output.json(match);
  else {
    await output.list(routes.flatMap(rowsOf), [
      { title: 'ROUTE', value: ({ name }) => textOf(name), isWhole: true },
      {
        title: 'RUNS', value: ({ matches }) => textOf(matches), isWhole: true,
        tone: ({ matches }) => matches === true ? 'good' : 'warning',
      },
      { title: 'FALSE CONDITION', value: ({ pointer }) => textOf(pointer), isWhole: true },
      { title: 'FOUND', value: ({ detail }) => textOf(detail), isProse: true },
    ], '');
  }
  return routes.some(({ matches }) => matches === true) ? 0 : 1;
}

/** One for each condition that is false. */
function rowsOf({ name = null, matches = null, failed }: JsonObject): JsonObject[] {
  const found = Array.isArray(failed) ? failed.map(objectOf) : [];
  return found.length === 0 ? [{ name, matches }]
    : found.map((condition) => ({ name, matches, ...condition }));
}

const BESIDE_PAYLOAD = ['event', 'header', 'query', 'method'];

/** Throws `usage` for what cannot stand beside a kept request. */
async function requestToMatch(context: CommandContext): Promise<JsonObject | Buffer> {
  const { given } = context;
  const request = given.find('request');
  if (request !== undefined) {
    const beside = BESIDE_PAYLOAD.find((name) => given.has(name));
    if (beside === undefined) return { request };
    throw new AppError('usage', `--${beside} stands beside --payload: the request has its own`);
  }
  const headers = new Map<string, readonly string[]>();
  for (const line of given.all('header')) addHeader(headers, line, '--header');
  const named = ['event', 'query', 'method'].flatMap((name): [string, string][] => {
    const value = given.find(name);
    return value === undefined ? [] : [[name, value]];
  });
  const members = { ...Object.fromEntries(named), headers: Object.fromEntries(headers) };
  return withPayload(members, (await readJsonOption(context, 'payload')).bytes);
}

const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/[\d.]+$/;

/** One `Name: value` a line; the first line of a request may stand before them. */
function headersOf(text: string): Readonly<Record<string, readonly string[]>> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const headers = new Map<string, readonly string[]>();
  for (const line of lines.filter((one, index) => index > 0 || !REQUEST_LINE.test(one))) {
    addHeader(headers, line, '--headers-file');
  }
  return Object.fromEntries(headers);
}

function addHeader(headers: Map<string, readonly string[]>, line: string, option: string): void {
  const [name, value] = headerOf(line, option);
  headers.set(name, [...headers.get(name) ?? [], value]);
}
