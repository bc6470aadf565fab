/** `config:export`: the configuration as a file for `apply`, without its secrets. */
import { isJsonObject, listObjects } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { RECORD_KINDS } from '../../../webhooks/configuration/record-kinds.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { fetchAll, fetchObject, formatValue } from '../resource-commands.ts';
import { CONFIGURATION_PATH } from './apply-plan.ts';

/** Prints the document, and on stderr what to set where it is applied, and what is left out. */
export async function exportConfiguration(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const isOnlyApplied = args.has('only-applied');
  const search = isOnlyApplied ? '?onlyApplied=true' : '';
  const document = await fetchObject(context, CONFIGURATION_PATH + search);
  const nameless = isOnlyApplied ? [] : (await fetchAll(context, outgoingResource.path))
    .filter((webhook) => !Object.hasOwn(webhook, 'name'));
  await output.json(document);
  for (const text of listVariables(document)) output.note(text);
  for (const webhook of nameless) {
    output.note(`left out: outgoing webhook ${formatValue(webhook['identifier'])} to `
      + `${formatValue(webhook['targetUrl'])}, which has no name (outgoingwebhook:update --name)`);
  }
}

/** A line for each variable, in their order: `set GH_SECRET: secret of incoming webhook gh`. */
function listVariables(document: JsonObject): readonly string[] {
  return RECORD_KINDS.flatMap(({ member, noun, naming }) =>
    listObjects(document[member]).flatMap((record) =>
      findVariables(record, []).map(({ variable, place }) =>
        `set ${variable}: ${place} of ${noun} ${formatValue(record[naming])}`)));
}

/** A variable that the document names, and the member whose value it is to hold. */
type Variable = { readonly variable: string; readonly place: string };

function findVariables(value: JsonValue, steps: readonly string[]): readonly Variable[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isJsonObject(value) && typeof value['$env'] === 'string') {
    return [{ variable: value['$env'], place: steps.join('.') }];
  }
  return Object.entries(value).flatMap(([step, member]) => findVariables(member, [...steps, step]));
}
