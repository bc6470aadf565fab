/** The commands `incomingwebhook:presets`, `:test`, `:diagnose` and `:match`: help to set it up. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { ApiCall } from '../../../server/local/api-call.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { requestResource } from '../../../webhooks/inbox/request-resource.ts';
import {
  describePresets, formatCoverage,
} from '../../../webhooks/senders/presets/describe-presets.ts';
import type { Tone } from '../../terminal/colour.ts';
import type { CommandContext } from '../command-context.ts';
import { readBodyWithPayload, readBytesOption, readTextOption } from '../option-input.ts';
import { pickDefined, readTextMembers } from '../option-members.ts';
import {
  expectObject, fetchNamed, formatValue, recordPath, requestObject, resolveId, resolvePath,
} from '../resource-commands.ts';
import { parseHeaderLine } from './header-line.ts';

export async function listPresets({ output }: CommandContext): Promise<void> {
  const rows = describePresets();
  await output.list(rows, [
    { title: 'PRESET', value: ({ name }) => name, fit: 'whole' },
    { title: 'SENDER', value: ({ sender }) => sender, fit: 'wrap' },
    { title: 'HEADER', value: ({ header }) => header, importance: 3 },
    { title: 'COVERS', value: formatCoverage, importance: 4 },
    { title: 'NEEDS', value: ({ needs }) => needs.join(', ') || '-', importance: 2 },
    { title: 'URL AND SECRET', value: ({ pasteUrl, pasteSecret }) =>
      `${pasteUrl}; ${pasteSecret}`, importance: 1 },
  ], 'no presets');
}

/** Sends a request as the sender would; exit code 1 when the response is no success. */
export async function testIncoming(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const members = pickDefined({ event: args.find('event'), handshake: args.has('handshake') });
  const body = args.has('payload')
    ? await readBodyWithPayload(context, members) : members;
  const path = `${await resolvePath(context, incomingResource)}/sample`;
  const sample = await requestObject(context, { method: 'POST', path, body });
  const apiClient = await context.openApiClient();
  const response = await apiClient.requestAnyStatus(toCall(sample));
  const contentType = response.headers['content-type'] ?? null;
  await output.object({ status: response.status, contentType, body: response.body });
  if (sample['isAddressLimited'] === true) {
    output.note(apiClient.isOverNetwork ? ADDRESS_CHECKED : ADDRESS_UNCHECKED);
  }
  return response.status < 300 ? 0 : 1;
}

const ADDRESS_UNCHECKED = 'allowedAddresses was not checked, as the test calls through the control '
  + 'socket and has no address: incomingwebhook:diagnose --client checks one';

const ADDRESS_CHECKED = 'allowedAddresses was checked for the address that the server saw this '
  + 'test come from; the sender has another: incomingwebhook:diagnose --client checks that';

/** Throws `conflict` for a method that no command sends, such as HEAD. */
function toCall({ method: sampleMethod, path, headers, body }: JsonObject): ApiCall {
  const method = METHODS.find((name) => name === sampleMethod);
  if (method === undefined) {
    throw new AppError('conflict', `it cannot be tested with a command, which sends no ${
      formatValue(sampleMethod)} request: run the call that incomingwebhook:show prints`);
  }
  return {
    method, path: formatValue(path),
    headers: Object.fromEntries(Object.entries(isJsonObject(headers) ? headers : {})
      .map(([name, value]) => [name.toLowerCase(), formatValue(value)])),
    ...typeof body === 'string' ? { body: Buffer.from(body, 'base64') } : {},
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', failed: 'bad', hint: 'warning' };

/** Exit code 1 when the request would not be accepted. */
export async function diagnoseIncoming(context: CommandContext): Promise<number> {
  const body = await readRequestToDiagnose(context);
  const path = `${await resolveWebhook(context)}/diagnose`;
  const diagnosis = await requestObject(context, { method: 'POST', path, body });
  const { accepted, checks } = diagnosis;
  const { output } = context;
  if (output.isJson) await output.json(diagnosis);
  else {
    const rows = Array.isArray(checks) ? checks.map(expectObject) : [];
    await output.list(rows, [
      { title: 'CHECK', value: ({ check }) => formatValue(check), fit: 'whole' },
      {
        title: 'STATUS', value: ({ status }) => formatValue(status), fit: 'whole',
        tone: ({ status }) => TONES[formatValue(status)],
      },
      { title: 'FOUND', value: ({ finding }) => formatValue(finding), fit: 'wrap' },
    ], '');
    await output.line(formatOutcome(diagnosis, rows));
  }
  return accepted === true ? 0 : 1;
}

/** The path of the webhook that is named, else of the one that has kept the request. */
async function resolveWebhook(context: CommandContext): Promise<string> {
  const { args } = context;
  if (args.has('identifier') || !args.has('request')) return resolvePath(context, incomingResource);
  const { hook } = await fetchNamed(context, requestResource, 'request');
  return recordPath(incomingResource, String(hook));
}

function formatOutcome(
  { accepted, failedCheck }: JsonObject, checks: readonly JsonObject[],
): string {
  if (accepted === true) {
    const isFiltered = ({ check, status }: JsonObject): boolean =>
      check === 'routes' && status === 'hint';
    const finding = checks.find(isFiltered)?.['finding'];
    return `would be accepted${finding === undefined ? '' : `, but ${formatValue(finding)}`}`;
  }
  // A duplicate is answered 200, as its sender has done all that it should.
  return failedCheck === 'duplicate' ? 'would be answered as a duplicate, and not run'
    : 'would be refused';
}

async function readRequestToDiagnose(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const members = readTextMembers(context, ['method', 'url', 'client', 'at']);
  if (args.has('request')) {
    const request = await resolveId(context, requestResource, 'request');
    return { ...members, request };
  }
  const body = args.has('body-file')
    ? (await readBytesOption(context, 'body-file')).toString('base64') : '';
  const headers = parseHeadersFile(await readTextOption(context, 'headers-file'));
  return { ...members, headers, body };
}

/** Exit code 1 when no route would run. */
export async function matchIncoming(context: CommandContext): Promise<number> {
  const body = await readRequestToMatch(context);
  const path = `${await resolveWebhook(context)}/match`;
  const match = await requestObject(context, { method: 'POST', path, body });
  const { output } = context;
  const routes = Array.isArray(match['routes']) ? match['routes'].map(expectObject) : [];
  if (output.isJson) await output.json(match);
  else {
    await output.list(routes.flatMap(toMatchRows), [
      { title: 'ROUTE', value: ({ name }) => formatValue(name), fit: 'whole' },
      {
        title: 'RUNS', value: ({ matches }) => formatValue(matches), fit: 'whole',
        tone: ({ matches }) => matches === true ? 'good' : 'warning',
      },
      { title: 'FALSE CONDITION', value: ({ pointer }) => formatValue(pointer), fit: 'whole' },
      { title: 'FOUND', value: ({ detail }) => formatValue(detail), fit: 'wrap' },
    ], '');
  }
  return routes.some(({ matches }) => matches === true) ? 0 : 1;
}

/** A row for each condition that is false; one row when none is. */
function toMatchRows({ name = null, matches = null, failed }: JsonObject): JsonObject[] {
  const conditions = Array.isArray(failed) ? failed.map(expectObject) : [];
  return conditions.length === 0 ? [{ name, matches }]
    : conditions.map((condition) => ({ name, matches, ...condition }));
}

/** Options that describe the request which a payload is for. */
const PAYLOAD_OPTIONS = ['event', 'header', 'query', 'method'];

/** Throws `usage` for options that cannot be combined with a stored request. */
async function readRequestToMatch(context: CommandContext): Promise<JsonObject | Buffer> {
  const { args } = context;
  const request = args.find('request');
  if (request !== undefined) {
    const payloadOption = PAYLOAD_OPTIONS.find((name) => args.has(name));
    if (payloadOption === undefined) return { request };
    throw new AppError('usage',
      `--${payloadOption} stands beside --payload: the request has its own`);
  }
  const headers = new Map<string, readonly string[]>();
  for (const line of args.all('header')) addHeader(headers, line, '--header');
  const members = {
    ...readTextMembers(context, ['event', 'query', 'method']),
    headers: Object.fromEntries(headers),
  };
  return readBodyWithPayload(context, members);
}

const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/[\d.]+$/;

/** Parses one `Name: value` a line; the request line may stand before them. */
function parseHeadersFile(text: string): Readonly<Record<string, readonly string[]>> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const headers = new Map<string, readonly string[]>();
  const headerLines = REQUEST_LINE.test(lines[0] ?? '') ? lines.slice(1) : lines;
  for (const line of headerLines) addHeader(headers, line, '--headers-file');
  return Object.fromEntries(headers);
}

function addHeader(headers: Map<string, readonly string[]>, line: string, option: string): void {
  const [name, value] = parseHeaderLine(line, option);
  headers.set(name, [...headers.get(name) ?? [], value]);
}
