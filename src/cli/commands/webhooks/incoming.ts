/** `incomingwebhook:*`. A hook is named by its identifier, its name or its path segment. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { escapeLines } from '../../../base/text/printable.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../context.ts';
import {
  columnsOf, create, fetchAll, nameAndId, objectOf, oneOf, patch, pathOf, pathOfList, remove,
  requireChange, textOf, unsetMembers,
} from '../resource.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import type { SecretShape } from '../../../webhooks/http/new-secret.ts';
import {
  findWebhooksWithoutSecret, chooseSecretShape,
} from '../../../webhooks/incoming/verification-member.ts';
import { isSecretGiven, readSecret, rotateSecret } from '../secret.ts';
import type { GivenSecret } from '../secret.ts';
import { membersOf } from './incoming-members.ts';

/** The list, and on stderr which of them take no request for want of a secret. */
export async function listIncoming(context: CommandContext): Promise<number> {
  const path = pathOfList(context, incomingResource);
  const hooks = await fetchAll(await context.openSession(), path);
  const { output } = context;
  await output.list(hooks, columnsOf(incomingResource), `no ${incomingResource.plural}`);
  for (const sentence of findWebhooksWithoutSecret(hooks)) output.note(sentence);
  return 0;
}

/** With calls to copy; in JSON as the member `examples`. */
export async function showIncoming(context: CommandContext): Promise<number> {
  const hook = await findIncoming(context);
  const examples = await examplesOf(context, hook);
  const { output } = context;
  if (output.isJson) {
    const { url = null, setup = null, curl, php } = examples;
    await output.json({ ...hook, url, setup, examples: { curl, php } });
    return 0;
  }
  const { setup } = examples;
  await output.object({
    ...hook, url: examples['url'], ...isJsonObject(setup) ? { setup } : {},
  });
  const { curlObstacle } = examples;
  if (typeof curlObstacle === 'string') {
    await output.write('\n');
    await output.line(`${curlObstacle}: there is no call to copy`);
  }
  for (const [title, name] of [['curl', 'curl'], ['PHP', 'php']] as const) {
    if (typeof examples[name] !== 'string') continue;
    await output.write(`\n${title}:\n\n${escapeLines(textOf(examples[name]))}\n`);
  }
  return 0;
}

export async function createIncoming(context: CommandContext): Promise<number> {
  const members = await membersOf(context);
  const secret = await readSecret(context, () => shapeFor(members));
  const body = { ...members, ...secretMember(secret), enabled: !context.given.has('disabled') };
  const hook = await create(context, incomingResource, body);
  await printChanged(context, 'created', hook, secret);
  return 0;
}

export async function updateIncoming(context: CommandContext): Promise<number> {
  const removed = unsetMembers(context, {
    'allowed-methods': 'allowedMethods', 'allowed-addresses': 'allowedAddresses',
    'body-format': 'bodyFormat',
  });
  const members = await membersOf(context);
  const given = { ...removed, ...replacedTarget(members), ...members };
  if (!isSecretGiven(context)) requireChange(context, given);
  const current = await findIncoming(context);
  const changes = withPreset(current, given);
  const secret = await readSecret(context, () => shapeFor({ ...current, ...changes }));
  const body: JsonObject = { ...changes, ...secretMember(secret) };
  const hook = await patch(context, incomingResource, textOf(current['identifier']), {
    ...body, ...replaced(current, body, 'verification'),
    ...replaced(current, body, 'deduplicate'),
  });
  await printChanged(context, 'updated', hook, secret);
  return 0;
}

/** `--verification` without `--preset` is what the webhook's own preset is to be given. */
function withPreset({ verification: current }: JsonObject, changes: JsonObject): JsonObject {
  const { verification } = changes;
  if (!isJsonObject(verification) || !isJsonObject(current)) return changes;
  return { ...changes, verification: { preset: current['preset'] ?? null, ...verification } };
}

/** Of an action and routes a webhook has one: a given one takes the place of the other. */
function replacedTarget({ actionConfiguration, routes }: JsonObject): JsonObject {
  return {
    ...actionConfiguration === undefined ? {} : { routes: null },
    ...routes === undefined ? {} : { actionConfiguration: null },
  };
}

/** Of a merge patch: an object that takes the place of the current one. */
function replaced(current: JsonObject, body: JsonObject, name: string): JsonObject {
  const { [name]: wanted } = body;
  return isJsonObject(wanted) ? { [name]: replacing(current[name], wanted) } : {};
}

/** What is gone is null, in each object that was one before. */
function replacing(old: JsonValue | undefined, wanted: JsonValue): JsonValue {
  if (!isJsonObject(wanted) || !isJsonObject(old)) return wanted;
  const gone = Object.keys(old).map((member) => [member, null] as const);
  const members = Object.entries(wanted).map(([member, value]) =>
    [member, replacing(old[member], value)] as const);
  return Object.fromEntries([...gone, ...members]);
}

export async function enableIncoming(context: CommandContext): Promise<number> {
  return setEnabled(context, true);
}

export async function disableIncoming(context: CommandContext): Promise<number> {
  return setEnabled(context, false);
}

export async function deleteIncoming(context: CommandContext): Promise<number> {
  return remove(context, incomingResource, await findIdentifier(context));
}

export async function rotateIncoming(context: CommandContext): Promise<number> {
  return rotateSecret(context, incomingResource, await findIdentifier(context));
}

async function setEnabled(context: CommandContext, enabled: boolean): Promise<number> {
  const hook = await patch(context, incomingResource, await findIdentifier(context), { enabled });
  await printChanged(context, enabled ? 'enabled' : 'disabled', hook, null);
  return 0;
}

function secretMember(given: GivenSecret | null): JsonObject {
  return given === null ? {} : { secret: given.secret };
}

/** Of a secret to be made. Throws `usage` where only the sender can make one. */
function shapeFor(hook: JsonObject): SecretShape {
  const made = chooseSecretShape(hook);
  if (typeof made !== 'string') return made.shape;
  throw new AppError('usage', `--secret-file ${made}`);
}

async function printChanged(
  context: CommandContext, verb: string, hook: JsonObject, secret: GivenSecret | null,
): Promise<void> {
  const { output } = context;
  const made = secret?.isGenerated === true ? { secret: secret.secret } : {};
  if (output.isJson) return output.json({ ...hook, ...made });
  const { url } = await examplesOf(context, hook);
  await output.line(`${verb} incoming webhook ${nameAndId(hook)}: ${textOf(url)}`);
  if (made.secret !== undefined) await output.line(`secret (shown this once): ${made.secret}`);
}

/** Its absolute URL, and calls to copy; says so when the URL is a guess. */
async function examplesOf(context: CommandContext, hook: JsonObject): Promise<JsonObject> {
  const session = await context.openSession();
  const path = `${pathOf(incomingResource, textOf(hook['identifier']))}/examples`;
  const examples = objectOf((await session.request({ method: 'GET', path })).body);
  const { origin } = new URL(textOf(examples['url']));
  if (context.loadSettings().settings.server.baseUri === null && isLocal(origin)) {
    context.output.note(`server.baseUri is not set; URLs begin with ${origin}`);
  }
  return examples;
}

// A server may have been told its base URI in ways that this command does not see.
function isLocal(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1?\]|0\.0\.0\.0)(:\d+)?$/.test(origin);
}

export async function findIdentifier(context: CommandContext): Promise<string> {
  return textOf((await findIncoming(context))['identifier']);
}

/** By identifier first: a path segment may look like one. Then by a beginning or end of any. */
export async function findIncoming(
  context: CommandContext, option = 'identifier',
): Promise<JsonObject> {
  const session = await context.openSession();
  const name = context.given.get(option).replace(/^…|…$/g, '');
  try {
    const answer = await session.request({ method: 'GET', path: pathOf(incomingResource, name) });
    return objectOf(answer.body);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'not_found') throw thrown;
    const hooks = await fetchAll(session, incomingResource.path);
    // A server of version 1.0.0 takes no path segment for an identifier.
    const hook = hooks.find(({ pathSegment }) => pathSegment === name) ?? findAlike(hooks, name);
    if (hook !== undefined) return hook;
    throw new AppError('not_found',
      `there is no incoming webhook "${name}"; see hookshelf incomingwebhook:list`);
  }
}

function findAlike(hooks: readonly JsonObject[], part: string): JsonObject | undefined {
  const isAlike = (value: unknown): boolean =>
    typeof value === 'string' && (value.startsWith(part) || value.endsWith(part));
  const alike = hooks.filter(({ identifier, name, pathSegment }) =>
    isAlike(identifier) || isAlike(name) || isAlike(pathSegment));
  const segments = alike.map(({ pathSegment }) => textOf(pathSegment));
  const segment = oneOf(segments, part, incomingResource);
  return alike.find(({ pathSegment }) => pathSegment === segment);
}
