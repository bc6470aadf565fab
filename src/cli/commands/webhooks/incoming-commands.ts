/** The commands `incomingwebhook:*`, but those that help to set up a sender. */
import { isJsonObject } from '../../../base/fields.ts';
import { escapeLines } from '../../../base/text/printable.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readMembers, readUnsetMembers, requireChange } from '../option-members.ts';
import {
  createRecord, deleteRecord, fetchListed, formatValue, parseObject, patchRecord, recordPath,
  toTableColumns,
} from '../resource-commands.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import type { SecretShape } from '../../../webhooks/members/new-secret.ts';
import {
  findWebhooksWithoutSecret, chooseSecretShape,
} from '../../../webhooks/incoming/verification-member.ts';
import { fetchIncoming, resolveIncomingId } from './find-webhook.ts';
import {
  hasSecretOption, printWebhook, readNewSecret, requireSecretShape, rotateSecret, setEnabled,
  toSecretMember,
} from './webhook-changes.ts';
import type { WebhookKind } from './webhook-changes.ts';
import { WEBHOOK_READERS } from './webhook-members.ts';

const INCOMING: WebhookKind = {
  resource: incomingResource,
  resolveId: resolveIncomingId,
  resolveAddress: async (context, webhook) =>
    formatValue((await fetchExamples(context, webhook))['url']),
};

/** Prints the list, and on stderr the webhooks that reject all requests as they lack a secret. */
export async function listIncoming(context: CommandContext): Promise<number> {
  const webhooks = await fetchListed(context, incomingResource);
  const { output } = context;
  await output.list(webhooks, toTableColumns(incomingResource), `no ${incomingResource.plural}`);
  for (const sentence of findWebhooksWithoutSecret(webhooks)) output.note(sentence);
  return 0;
}

/** Shows a webhook with calls to copy; they are the member `examples` in JSON. */
export async function showIncoming(context: CommandContext): Promise<number> {
  const webhook = await fetchIncoming(context);
  const examples = await fetchExamples(context, webhook);
  const { output } = context;
  if (output.isJson) {
    const { url = null, setup = null, curl, php } = examples;
    await output.json({ ...webhook, url, setup, examples: { curl, php } });
    return 0;
  }
  const { setup } = examples;
  await output.object({
    ...webhook, url: examples['url'], ...isJsonObject(setup) ? { setup } : {},
  });
  const { curlObstacle } = examples;
  if (typeof curlObstacle === 'string') {
    await output.write('\n');
    await output.line(`${curlObstacle}: there is no call to copy`);
  }
  for (const [title, name] of [['curl', 'curl'], ['PHP', 'php']] as const) {
    if (typeof examples[name] !== 'string') continue;
    await output.write(`\n${title}:\n\n${escapeLines(formatValue(examples[name]))}\n`);
  }
  return 0;
}

export async function createIncoming(context: CommandContext): Promise<number> {
  const members = await readMembers(context, incomingResource.schema, WEBHOOK_READERS);
  const secret = await readNewSecret(context, () => getSecretShape(members));
  const body = { ...members, ...toSecretMember(secret) };
  const webhook = await createRecord(context, incomingResource, body);
  await printWebhook(context, INCOMING, 'created', webhook, secret);
  return 0;
}

export async function updateIncoming(context: CommandContext): Promise<number> {
  const unset = readUnsetMembers(context, incomingResource.schema);
  const members = await readMembers(context, incomingResource.schema, WEBHOOK_READERS);
  const requestedChanges = { ...unset, ...clearOtherTarget(members), ...members };
  if (!hasSecretOption(context)) requireChange(context, requestedChanges);
  const current = await fetchIncoming(context);
  const changes = withPreset(current, requestedChanges);
  const secret = await readNewSecret(context, () => getSecretShape({ ...current, ...changes }));
  const body: JsonObject = { ...changes, ...toSecretMember(secret) };
  const webhook = await patchRecord(context, incomingResource, formatValue(current['identifier']), {
    ...body, ...replaceObject(current, body, 'verification'),
    ...replaceObject(current, body, 'deduplicate'),
    ...replaceObject(current, body, 'response'),
  });
  await printWebhook(context, INCOMING, 'updated', webhook, secret);
  return 0;
}

/** `--verification` without `--preset` applies to the preset that the webhook has. */
function withPreset({ verification: current }: JsonObject, changes: JsonObject): JsonObject {
  const { verification } = changes;
  if (!isJsonObject(verification) || !isJsonObject(current)) return changes;
  return { ...changes, verification: { preset: current['preset'] ?? null, ...verification } };
}

/** A webhook has either an action or routes: the new one replaces the other. */
function clearOtherTarget({ actionConfiguration, routes }: JsonObject): JsonObject {
  return {
    ...actionConfiguration === undefined ? {} : { routes: null },
    // An order stands on each route then.
    ...routes === undefined ? {} : { actionConfiguration: null, order: null },
  };
}

/** A merge patch would mix an object with the current one: this patch replaces it. */
function replaceObject(current: JsonObject, body: JsonObject, name: string): JsonObject {
  const { [name]: value } = body;
  return isJsonObject(value) ? { [name]: toReplacingPatch(current[name], value) } : {};
}

/** Members that `value` lacks are null in the patch, at each depth. */
function toReplacingPatch(current: JsonValue | undefined, value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !isJsonObject(current)) return value;
  const removals = Object.keys(current).map((member) => [member, null] as const);
  const members = Object.entries(value).map(([member, value]) =>
    [member, toReplacingPatch(current[member], value)] as const);
  return Object.fromEntries([...removals, ...members]);
}

export async function enableIncoming(context: CommandContext): Promise<number> {
  return setEnabled(context, INCOMING, true);
}

export async function disableIncoming(context: CommandContext): Promise<number> {
  return setEnabled(context, INCOMING, false);
}

export async function deleteIncoming(context: CommandContext): Promise<number> {
  return deleteRecord(context, incomingResource, await resolveIncomingId(context));
}

export async function rotateIncoming(context: CommandContext): Promise<number> {
  return rotateSecret(context, INCOMING);
}

export async function awaitIncomingSecret(context: CommandContext): Promise<number> {
  const identifier = await resolveIncomingId(context);
  const apiClient = await context.openApiClient();
  const path = `${recordPath(incomingResource, identifier)}/await-secret`;
  const webhook = parseObject((await apiClient.request({ method: 'POST', path })).body);
  const until = formatValue(webhook['secretAwaitedUntil']);
  await printWebhook(context, INCOMING, `until ${until} a handshake may bring the secret of`,
    webhook, null);
  return 0;
}

/** The shape of a secret to be generated. Throws `usage` where only the sender can make one. */
function getSecretShape(webhook: JsonObject): SecretShape {
  return requireSecretShape(chooseSecretShape(webhook));
}

/** Fetches the webhook's absolute URL and calls to copy; prints a note when the URL is local. */
async function fetchExamples(context: CommandContext, webhook: JsonObject): Promise<JsonObject> {
  const apiClient = await context.openApiClient();
  const path = `${recordPath(incomingResource, formatValue(webhook['identifier']))}/examples`;
  const examples = parseObject((await apiClient.request({ method: 'GET', path })).body);
  const { origin } = new URL(formatValue(examples['url']));
  if (isLocalOrigin(origin)) {
    context.output.note(
      `URLs begin with ${origin}, which other machines cannot reach: see server.baseUri`);
  }
  return examples;
}

function isLocalOrigin(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1?\]|0\.0\.0\.0)(:\d+)?$/.test(origin);
}
