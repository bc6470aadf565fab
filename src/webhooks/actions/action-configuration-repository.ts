/** Each configuration is checked by its action; one in use cannot be removed. */
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject } from '../../base/schema.ts';
import { suggestName, quote } from '../../base/text/error-message.ts';
import type { ChangeHook } from '../../resources/record-stager.ts';
import { Repository, type RepositoryOptions } from '../../resources/repository.ts';
import type { Representation } from '../../resources/representation.ts';
import { walkRecords } from '../../store/find-record.ts';
import type { Collection, Store, Transaction } from '../../store/store-port.ts';
import { stageMarkRemoval } from '../applied-records.ts';
import { checkTarget } from '../members/target-rules.ts';
import { configurationCollection, configurationResource } from './action-configuration.ts';
import { decodeConfiguration } from './configuration-index.ts';
import {
  checkActionType, checkUnused, updateUseCounts, type Reference,
} from './configuration-references.ts';
import type { ActionRegistry } from './action-registry.ts';
import type { OptionsChecks } from './options-checks.ts';
import type { RelayContext } from '../relay-context.ts';
import type { WebhookDirection } from '../webhook-label.ts';

/** `listUsers` lists labels of webhooks that use a configuration, as the transaction sees them. */
export function createActionConfigurationRepository(
  context: RelayContext, actions: ActionRegistry, optionsChecks: OptionsChecks,
  isDeniedTarget: (url: string) => boolean,
  listUsers: (transaction: Transaction, identifier: string) => readonly string[],
): Repository {
  const findTarget = (record: Buffer): string | null => {
    const { actionType, options = {} } = decodeConfiguration(record);
    return actions.find(actionType)?.findTargetUrl?.(options) ?? null;
  };
  const check = createOptionsCheck(actions, optionsChecks);
  const schema = { ...configurationResource.schema, check };
  return new CheckedRepository(optionsChecks, {
    ...context, resource: { ...configurationResource, schema },
    stageWithChange(transaction, change) {
      stageMarkRemoval(transaction, change);
      checkTarget(change, '/options/url', findTarget, isDeniedTarget);
    },
    checkStaged(transaction, { id, after }) {
      if (after === null) checkUnused(transaction, id, listUsers(transaction, id));
      else checkActionType(transaction, id, decodeConfiguration(after).actionType);
    },
  });
}

/** Has the options of a body checked before the write, where a check takes time. */
class CheckedRepository extends Repository {
  readonly #checks: OptionsChecks;

  constructor(checks: OptionsChecks, options: RepositoryOptions) {
    super(options);
    this.#checks = checks;
  }

  override add(...input: Parameters<Repository['add']>): Promise<Representation> {
    return this.#checks.checkAhead([], () => super.add(...input));
  }

  override replace(...input: Parameters<Repository['replace']>): Promise<Representation> {
    return this.#checks.checkAhead([], () => super.replace(...input));
  }

  override patch(...input: Parameters<Repository['patch']>): Promise<Representation> {
    return this.#checks.checkAhead([], () => super.patch(...input));
  }
}

/** Refuses a webhook whose configuration does not exist (`invalid`), and counts uses of others. */
export function createUseCheck(
  kind: WebhookDirection, store: Store, listNames: (hook: Buffer) => readonly Reference[],
): ChangeHook {
  return (transaction, { before, after }) => updateUseCounts(transaction, kind, {
    before: before === null ? [] : listNames(before),
    after: after === null ? [] : listNames(after),
    listKnownNames: () => listFirstIdentifiers(store.collection(configurationCollection.name)),
  });
}

/** The records that hold the text of a configuration's name anywhere. */
export function* findRecordsNaming(
  collection: Collection, configuration: string,
): Generator<Buffer> {
  const name = Buffer.from(JSON.stringify(configuration));
  for (const { bytes } of walkRecords(collection)) {
    if (bytes.includes(name)) yield bytes;
  }
}

const HINT_NAMES_MAX = 1000;

function listFirstIdentifiers(collection: Collection): string[] {
  const names: string[] = [];
  for (const { id } of walkRecords(collection)) {
    if (names.push(id) === HINT_NAMES_MAX) break;
  }
  return names;
}

/** By built-in action that a setting adds: the way to get it. */
const OPTIONAL_ACTION_HINTS: ReadonlyMap<string, string> = new Map([
  ['run-command',
    ' here: the setting actions.commandDirectory must name the folder of its programs'],
]);

function createOptionsCheck(
  actions: ActionRegistry, optionsChecks: OptionsChecks,
): (value: JsonObject) => readonly FieldError[] {
  return ({ actionType, options }) => {
    const action = actions.find(String(actionType));
    if (action === undefined) {
      const name = String(actionType);
      const hint = OPTIONAL_ACTION_HINTS.get(name)
        ?? suggestName(name, actions.list().map(({ identifier }) => identifier));
      return [{ pointer: '/actionType', detail: `${quote(name)} is not a known action${hint}` }];
    }
    const configuration = {
      actionType: action.identifier, options: isJsonObject(options) ? options : {},
    };
    return optionsChecks.findProblems(configuration)
      .map((detail) => ({ pointer: '/options', detail }));
  };
}
