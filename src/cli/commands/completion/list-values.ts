/**
 * Lists the values of an option or operand for completion. A server that runs is asked. Without one
 * the files are read as they are: whoever presses TAB may stand in a folder of somebody else, so
 * that no settings file there is obeyed, nothing locked or made.
 */
import { TOKENS } from '../../../access/tokens.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { bookResource } from '../../../books/book-resource.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { recoverState } from '../../../store/generations/recovery.ts';
import type { CollectionSpec } from '../../../store/store-port.ts';
import { configurationCollection } from '../../../webhooks/actions/action-configuration.ts';
import { BUILT_IN_ACTIONS } from '../../../webhooks/actions/modules/load-action-modules.ts';
import { jobCollection } from '../../../webhooks/bulk/job.ts';
import { deliveryCollection } from '../../../webhooks/deliveries/delivery.ts';
import { eventCollection, isEvent } from '../../../webhooks/deliveries/event-record.ts';
import { isRouteDeliveryId } from '../../../webhooks/deliveries/route-delivery-id.ts';
import { requestCollection } from '../../../webhooks/inbox/request-codec.ts';
import { incomingCollection } from '../../../webhooks/incoming/incoming-webhook.ts';
import { outgoingCollection } from '../../../webhooks/outgoing/outgoing-webhook.ts';
import { PRESETS } from '../../../webhooks/senders/presets/preset-table.ts';
import { fetchPage, formatValue } from '../resource-commands.ts';
import type { CommandContext } from '../command-context.ts';
import type { ValueKind } from '../../arguments/option-spec.ts';

/** The place where a kind of values is found. */
type CompletionSource = {
  /** Lists them over the API. */
  readonly path: string;
  /** The members that name a record; last its id. */
  readonly members: readonly string[];
  /** The collection that keeps them, or what there is without a server. */
  readonly stored: CollectionSpec | readonly string[];
  /** The collection whose records imply those that are listed; absent: none. */
  readonly impliedBy?: CollectionSpec;
  /** Whether the API lists a record of the collection; absent: all. */
  readonly isListed?: (record: Buffer, id: string) => boolean;
};

const SOURCES: Readonly<Record<ValueKind, CompletionSource>> = {
  'actions': {
    path: '/api/actions', members: ['identifier'], stored: BUILT_IN_ACTIONS,
  },
  'action-configurations': {
    path: '/api/action-configurations', members: ['identifier'], stored: configurationCollection,
  },
  'books': { path: '/api/books', members: ['id'], stored: bookResource.collection },
  'deliveries': {
    path: '/api/deliveries', members: ['identifier'], stored: deliveryCollection,
    impliedBy: eventCollection, isListed: (_, id) => !isRouteDeliveryId(id),
  },
  // There may be a hundred thousand events and requests; people look for the newest.
  'events': {
    path: '/api/events?limit=100', members: ['id'], stored: eventCollection, isListed: isEvent,
  },
  'incoming-webhooks': {
    path: '/api/incoming-webhooks', members: ['name', 'pathSegment', 'identifier'],
    stored: incomingCollection,
  },
  'jobs': { path: '/api/jobs', members: ['id'], stored: jobCollection },
  'outgoing-webhooks': {
    path: '/api/outgoing-webhooks', members: ['name', 'identifier'], stored: outgoingCollection,
  },
  'presets': {
    path: '/api/verification-presets', members: ['name'],
    stored: PRESETS.map(({ name }) => name),
  },
  'requests': { path: '/api/requests?limit=100', members: ['id'], stored: requestCollection },
  'tokens': { path: '/control/tokens', members: ['identifier'], stored: TOKENS },
};
/** At most this many records, the newest, are offered. */
const RECORDS_MAX = 100;

/**
 * The values that every shell reads as one plain word. A server elsewhere may send others: bash
 * puts a value on the command line as it is, and `$(…)` in one would run with it.
 */
const PLAIN_WORD = /^[A-Za-z0-9_][A-Za-z0-9._:@%+,/~-]*$/;

/** The values of the first page that are plain words. Throws as a command that lists them does. */
export async function listValues(
  context: CommandContext, kind: ValueKind,
): Promise<readonly string[]> {
  const source = SOURCES[kind];
  const client = await context.openServerClient();
  const values = client !== null ? pickMembers(await fetchPage(client, source.path), source.members)
    : await readValues(context, source);
  return values.filter((value) => PLAIN_WORD.test(value));
}

/** A webhook may have no name, or one that is its path segment too. */
function pickMembers(rows: readonly JsonObject[], members: readonly string[]): readonly string[] {
  return rows.flatMap((row) => [...new Set(members.flatMap((member) => {
    const value = row[member];
    return value === undefined || value === null ? [] : [formatValue(value)];
  }))]);
}

/** Reads the files, and changes none. Throws as `recoverState` does. */
async function readValues(
  { enterExistingDataAsOwner, loadCallersSettings }: CommandContext,
  { members, stored, impliedBy, isListed = () => true }: CompletionSource,
): Promise<readonly string[]> {
  if (!('key' in stored)) return stored;
  // The caller's own engine has the records: only its nodes look there.
  if (loadCallersSettings().settings.store.url !== null) return [];
  const { collections } = await recoverState({
    directory: enterExistingDataAsOwner(), files: createNodeFiles(),
    specs: impliedBy === undefined ? [stored] : [stored, impliedBy], skipsUnknownCollections: true,
  });
  const collection = collections.get(stored.name);
  const walk = collection?.walk({ isDescending: true });
  const rows: JsonObject[] = [];
  for (let slot = walk?.next() ?? -1; slot !== -1 && rows.length < RECORDS_MAX;) {
    const record = collection?.bytesAt(slot);
    const id = collection?.idAt(slot) ?? '';
    if (record !== undefined && isListed(record, id)) {
      rows.push({ ...parseNames(record, members), [members.at(-1) ?? '']: id });
    }
    slot = walk?.next() ?? -1;
  }
  return pickMembers(rows, members);
}

/** Parses a record where its id is not all that is asked for: one with a payload may be large. */
function parseNames(record: Buffer, members: readonly string[]): JsonObject {
  if (!members.includes('name')) return {};
  const parsedRecord: unknown = JSON.parse(record.toString('utf8'));
  return isJsonObject(parsedRecord) ? parsedRecord : {};
}
