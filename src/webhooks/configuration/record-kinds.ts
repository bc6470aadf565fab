/** The kinds of records that a configuration document has, each in a member of its own. */
import type { JsonObject } from '../../base/schema.ts';
import type { NamedSchema, Resource } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { configurationResource } from '../actions/action-configuration.ts';
import { incomingResource } from '../incoming/incoming-resource.ts';
import { outgoingResource } from '../outgoing/outgoing-resource.ts';
import { dropUnusedPrevious } from '../outgoing/signing-member.ts';

export type RecordKind = {
  /** The member of the document that lists its records. */
  readonly member: 'actionConfigurations' | 'incomingWebhooks' | 'outgoingWebhooks';
  readonly noun: string;
  /** The member by which a document finds the stored record. */
  readonly naming: 'identifier' | 'pathSegment' | 'name';
  /** Without the rules across members, which the repositories check. */
  readonly schema: NamedSchema;
  readonly collection: CollectionSpec;
  /** The webhook without a previous secret that cannot count beside the current one. */
  readonly dropUnusedPrevious: (webhook: JsonObject) => JsonObject;
};

/** In the order in which they are staged: a webhook may name a configuration that is new. */
export const RECORD_KINDS: readonly RecordKind[] = [
  createKind('actionConfigurations', 'identifier', configurationResource),
  createKind('incomingWebhooks', 'pathSegment', incomingResource),
  createKind('outgoingWebhooks', 'name', outgoingResource, dropUnusedPrevious),
];

function createKind(
  member: RecordKind['member'], naming: RecordKind['naming'],
  { noun, schema: { check: _, ...schema }, collection }: Resource,
  dropUnused: RecordKind['dropUnusedPrevious'] = (webhook) => webhook,
): RecordKind {
  return { member, naming, noun, schema, collection, dropUnusedPrevious: dropUnused };
}
