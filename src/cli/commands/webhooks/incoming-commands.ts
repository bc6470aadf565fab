/**
 * Changes that only incoming webhooks have (for others see webhook-changes.ts), and the commands
 * `incomingwebhook:list`, `show` and `await-secret`.
 */
import { isJsonObject } from '../../../base/fields.ts';
import { escapeLines } from '../../../base/text/printable.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import {
  fetchListed, fetchNamed, fetchObject, formatValue, recordPath, requestObject, resolvePath,
  toTableColumns, webhookLabel,
} from '../resource-commands.ts';
import { noteLocalUrl } from '../server-address.ts';
import { requestResource } from '../../../webhooks/inbox/request-resource.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import {
  findWebhooksWithoutSecret, chooseSecretShape,
} from '../../../webhooks/incoming/sender-secret.ts';
import { printWebhook } from './webhook-changes.ts';
import type { WebhookKind } from './webhook-changes.ts';

export const INCOMING: WebhookKind = {
  resource: incomingResource,
  work: requestResource,
  chooseSecretShape,
  wholeMembers: ['verification', 'deduplicate', 'response'],
  completeChanges: (changes, current) =>
    withPreset({ ...clearOtherTarget(changes), ...changes }, current),
  resolveAddress: async (context, webhook) =>
    formatValue((await fetchExamples(context, webhook))['url']),
  listProblems: describeMissingSecret,
};

/** Says what becomes of requests to a webhook without a secret; empty: it has one. */
function describeMissingSecret(webhook: JsonObject): readonly string[] {
  const { hasSecret, verification = null } = webhook;
  if (hasSecret === true || verification !== null) return findWebhooksWithoutSecret([webhook]);
  return ['it has no secret: whoever knows its address can call it; '
    + `incomingwebhook:update ${webhookLabel(webhook)} --generate-secret gives it one`];
}

/** Prints the list, and on stderr the webhooks that reject all requests as they lack a secret. */
export async function listIncoming(context: CommandContext): Promise<void> {
  const webhooks = await fetchListed(context, incomingResource);
  const { output } = context;
  await output.list(webhooks, toTableColumns(incomingResource), `no ${incomingResource.plural}`);
  for (const sentence of findWebhooksWithoutSecret(webhooks)) output.note(sentence);
}

/** Shows a webhook with calls to copy; they are the member `examples` in JSON. */
export async function showIncoming(context: CommandContext): Promise<void> {
  const webhook = await fetchNamed(context, incomingResource);
  const examples = await fetchExamples(context, webhook);
  const { output } = context;
  if (output.isJson) {
    const { url = null, setup = null, curl, php } = examples;
    return output.json({ ...webhook, url, setup, examples: { curl, php } });
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
}

/** `--verification` without `--preset` applies to the preset that the webhook has. */
function withPreset(changes: JsonObject, { verification: current }: JsonObject): JsonObject {
  const { verification } = changes;
  if (!isJsonObject(verification) || !isJsonObject(current)) return changes;
  return { ...changes, verification: { preset: current['preset'] ?? null, ...verification } };
}

/** A webhook has either an action or routes: the new one replaces the other. */
function clearOtherTarget({ actionConfiguration = null, routes = null }: JsonObject): JsonObject {
  return {
    ...actionConfiguration === null ? {} : { routes: null },
    // An order stands on each route then.
    ...routes === null ? {} : { actionConfiguration: null, order: null },
  };
}

export async function awaitIncomingSecret(context: CommandContext): Promise<void> {
  const path = `${await resolvePath(context, incomingResource)}/await-secret`;
  const webhook = await requestObject(context, { method: 'POST', path });
  const until = formatValue(webhook['secretAwaitedUntil']);
  await printWebhook(context, INCOMING, `until ${until} a handshake may bring the secret of`,
    webhook, null);
}

/** Fetches the webhook's absolute URL and calls to copy; prints a note when the URL is local. */
async function fetchExamples(context: CommandContext, webhook: JsonObject): Promise<JsonObject> {
  const path = `${recordPath(incomingResource, formatValue(webhook['identifier']))}/examples`;
  const examples = await fetchObject(context, path);
  noteLocalUrl(context, formatValue(examples['url']));
  return examples;
}
