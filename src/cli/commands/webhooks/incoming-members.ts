/** Reads the options of `incomingwebhook:create` and `:update` into members of the webhook. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readJsonOption } from '../option-input.ts';
import { pickDefined, readTextMembers } from '../option-members.ts';
import { readOrder } from './webhook-changes.ts';

// Thirty days, as the service allows.
const DEDUPLICATE_HOURS_MAX = 720;
const TEXT_OPTIONS = [
  'name', 'description', 'path-segment', 'action-config', 'body-format', 'inbox', 'answer',
];

/** Throws `usage`. The service validates the members. */
export async function readIncomingMembers(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const allowedAddresses = args.all('allowed-address');
  return {
    ...readTextMembers(context, TEXT_OPTIONS),
    ...pickDefined({
      jsonFields: parseNames(args.all('json-fields')),
      allowedMethods: parseMethods(args.find('allowed-methods')),
      allowedAddresses: allowedAddresses.length === 0 ? undefined : allowedAddresses,
      verification: await readVerification(context),
      routes: await readRoutes(context),
      response: await readResponse(context),
      order: readOrder(context),
      deduplicate: await readDeduplicate(context),
      deduplicateHours: args.integer('deduplicate-hours', 1, DEDUPLICATE_HOURS_MAX),
      retrySchedule: args.numbers('retry-schedule'),
      rateLimit: args.number('rate-limit'),
      maxConcurrent: args.number('max-concurrent'),
      actionTimeout: args.number('action-timeout'),
      maxInFlight: args.number('max-in-flight'),
    }),
  };
}

/** The names of an option that takes several, and may stand several times. */
function parseNames(texts: readonly string[]): string[] | undefined {
  if (texts.length === 0) return undefined;
  return texts.flatMap((text) => text.split(',')).map((name) => name.trim())
    .filter((name) => name !== '');
}

function parseMethods(methods: string | undefined): string[] | undefined {
  return methods?.split(',').map((method) => method.trim().toUpperCase())
    .filter((method) => method !== '');
}

/** Combines `--preset` and `--verification`; undefined without either. Throws `usage`. */
async function readVerification(context: CommandContext): Promise<JsonObject | undefined> {
  const { args } = context;
  const preset = args.find('preset');
  const presetMember = pickDefined({ preset });
  if (!args.has('verification')) return preset === undefined ? undefined : presetMember;
  const { value } = await readJsonOption(context, 'verification',
    { inlineSecrets: 'rejected', exceptMember: 'scheme' });
  if (!isJsonObject(value)) throw new AppError('usage', '--verification is not a JSON object');
  if (preset !== undefined && value['preset'] !== undefined && value['preset'] !== preset) {
    throw new AppError('usage', '--preset contradicts the preset of --verification');
  }
  return { ...value, ...presetMember };
}

async function readRoutes(context: CommandContext): Promise<JsonValue | undefined> {
  if (!context.args.has('routes')) return undefined;
  const { value } = await readJsonOption(context, 'routes', { inlineSecrets: 'accepted' });
  if (!Array.isArray(value)) throw new AppError('usage', '--routes is not a JSON array');
  return value;
}

async function readResponse(context: CommandContext): Promise<JsonObject | undefined> {
  if (!context.args.has('response')) return undefined;
  const { value } = await readJsonOption(context, 'response', { inlineSecrets: 'accepted' });
  if (!isJsonObject(value)) throw new AppError('usage', '--response is not a JSON object');
  return value;
}

/** Converts `header:<name>`, `json:<path>` or JSON for the API; passes other text on. */
async function readDeduplicate(context: CommandContext): Promise<JsonValue | undefined> {
  const text = context.args.find('deduplicate');
  if (text === undefined) return undefined;
  if (text.startsWith('{')) {
    const { value } = await readJsonOption(context, 'deduplicate', { inlineSecrets: 'accepted' });
    if (isJsonObject(value)) return value;
  }
  const [, kind, path] = /^(header|json):(.*)$/s.exec(text) ?? [];
  return kind === undefined || path === undefined ? text : { [kind]: path };
}
