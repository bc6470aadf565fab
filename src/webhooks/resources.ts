/** The three resources as services: what is checked, kept, hidden and cancelled with a change. */
import { isJsonObject } from '../base/fields.ts';
import { hintFor, quoted } from '../base/text/refusal.ts';
import type { FieldError } from '../base/errors.ts';
import type { JsonObject, ObjectSchema } from '../base/schema.ts';
import type { Store, Transaction } from '../store/port.ts';
import { createRepository, type RecordChange, type Repository } from '../resources/repository.ts';
import { configurationCollection, configurationSchema } from './actions/action-configuration.ts';
import { readConfiguration } from './actions/configuration-index.ts';
import type { ActionRegistry } from './actions/registry.ts';
import { incomingCollection, incomingSchema } from './incoming/incoming-webhook.ts';
import { readIncoming } from './incoming/hook-index.ts';
import { mask, unmask, urlsIn } from './http/mask.ts';
import { readOutgoing } from './outgoing/webhook-index.ts';
import { outgoingCollection, outgoingSchema } from './outgoing/webhook.ts';
import { checkActionType, checkUnused, moveReference } from './actions/references.ts';

export type Resources = {
  readonly incoming: Repository;
  readonly configurations: Repository;
  readonly outgoing: Repository;
  /** The configurations' table with the check of their options by the action. */
  readonly configurationSchema: ObjectSchema & { readonly name: string };
};

export type ResourceParts = {
  readonly store: Store;
  readonly actions: ActionRegistry;
  readonly now: () => number;
  readonly makeId: () => string;
  /** Stages what goes with an outgoing webhook that is removed. */
  readonly onOutgoingRemoved: (
    transaction: Transaction, identifier: string, nowMs: number,
  ) => void;
  /** Called once the removal is on disk. */
  readonly afterOutgoingRemoved: (identifier: string) => Promise<void>;
};

export function createResources(parts: ResourceParts): Resources {
  const { store, now } = parts;
  const schema = { ...configurationSchema, check: optionsCheck(parts.actions) };
  const incoming = createRepository({ store, now, spec: incomingSpec(parts) });
  const outgoing = createRepository({ store, now, spec: outgoingSpec(parts) });
  const configurations = createRepository({
    store, now, spec: configurationSpec(parts, schema),
  });
  return {
    incoming,
    configurations,
    configurationSchema: { ...schema, name: 'WebhookActionConfiguration' },
    outgoing: {
      ...outgoing,
      async remove(id, expect, hops) {
        await outgoing.remove(id, expect, hops);
        await parts.afterOutgoingRemoved(id);
      },
    },
  };
}

const NAMED_MAX = 1000;

type Spec = Parameters<typeof createRepository>[0]['spec'];

function incomingSpec({ store, makeId }: ResourceParts): Spec {
  return {
    collection: incomingCollection.name,
    key: 'identifier',
    noun: 'incoming webhook',
    schema: incomingSchema,
    makeId,
    reconcile: (...given) => unmask(keepSecret(...given), given[1]),
    present: (record) => mask(hideSecret(record)),
    onChange: (transaction, { before, after }) => moveReference(transaction, 'incoming', {
      before: before === null ? undefined : readIncoming(before).actionConfiguration,
      after: after === null ? undefined : readIncoming(after).actionConfiguration,
      known: () => configurationsIn(store),
    }),
  };
}

function outgoingSpec({ store, makeId, onOutgoingRemoved }: ResourceParts): Spec {
  return {
    collection: outgoingCollection.name,
    key: 'identifier',
    noun: 'outgoing webhook',
    schema: outgoingSchema,
    makeId,
    patchBase: maskedBase,
    reconcile: (...given) => unmask(keepSecret(...given), given[1],
      ({ targetUrl }) => urlsIn(targetUrl)),
    present: (record) => mask(hideSecret(record)),
    onChange(transaction, { id, before, after }, { nowMs }) {
      moveReference(transaction, 'outgoing', {
        before: before === null ? undefined : readOutgoing(before).actionConfiguration,
        after: after === null ? undefined : readOutgoing(after).actionConfiguration,
        known: () => configurationsIn(store),
      });
      if (after === null) onOutgoingRemoved(transaction, id, nowMs);
    },
  };
}

function configurationSpec({ store, makeId }: ResourceParts, schema: ObjectSchema): Spec {
  return {
    collection: configurationCollection.name,
    key: 'identifier',
    noun: 'action configuration',
    schema,
    makeId,
    isKeyGiven: true,
    patchBase: maskedBase,
    reconcile: (body, current) => unmask(body, current, ({ options }) => urlsIn(options)),
    present: mask,
    onChange(transaction: Transaction, { id, after }: RecordChange) {
      if (after === null) checkUnused(transaction, id, usersOf(store, id));
      else checkActionType(transaction, id, readConfiguration(after).actionType);
    },
  };
}

/** Write-only: absent in a replacement keeps what is stored; null, there or in a patch, removes. */
function keepSecret(
  body: JsonObject, current: JsonObject | null, cause: 'add' | 'replace' | 'patch',
): JsonObject {
  const isKept = cause === 'replace' && !Object.hasOwn(body, 'secret')
    && current?.['secret'] !== undefined;
  return isKept ? { ...body, secret: current['secret'] ?? null } : body;
}

/** What a patch does not name is kept as `***` would be: not for another target. */
function maskedBase(stored: JsonObject): JsonObject {
  const { secret } = stored;
  return { ...mask(stored), ...secret === undefined ? {} : { secret } };
}

function hideSecret(record: JsonObject): JsonObject {
  const { secret, ...shown } = record;
  return { ...shown, hasSecret: secret !== undefined };
}

function optionsCheck(actions: ActionRegistry): (value: JsonObject) => readonly FieldError[] {
  return ({ actionType, options }) => {
    const action = actions.find(String(actionType));
    if (action === undefined) {
      const name = String(actionType);
      const hint = hintFor(name, actions.list().map(({ identifier }) => identifier));
      return [{ pointer: '/actionType', detail: `${quoted(name)} is not a known action${hint}` }];
    }
    const given = isJsonObject(options) ? options : {};
    return action.validateOptions(given).map((detail) => ({ pointer: '/options', detail }));
  };
}

/** The first of the configurations that there are, for a message. */
function configurationsIn(store: Store): string[] {
  const collection = store.collection(configurationCollection.name);
  const walk = collection.walk();
  const names: string[] = [];
  for (let slot = walk.next(); slot !== -1 && names.length < NAMED_MAX; slot = walk.next()) {
    names.push(collection.idAt(slot) ?? '');
  }
  return names;
}

/** What a person knows the hooks by that use a configuration, as committed. */
function usersOf(store: Store, configuration: string): string[] {
  const names: string[] = [];
  for (const name of [incomingCollection.name, outgoingCollection.name]) {
    const collection = store.collection(name);
    const walk = collection.walk();
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = collection.bytesAt(slot);
      // Most hold the name nowhere; what does may hold it in a header or another free member.
      if (bytes?.includes(`"${configuration}"`) !== true) continue;
      const isIncoming = name === incomingCollection.name;
      const hook = isIncoming ? readIncoming(bytes) : readOutgoing(bytes);
      if (hook.actionConfiguration !== configuration) continue;
      names.push(isIncoming ? readIncoming(bytes).pathSegment : hook.identifier);
    }
  }
  return names;
}
