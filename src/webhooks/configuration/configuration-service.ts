/** Applies configuration documents, and exports what is stored as one. */
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Logger } from '../../base/log.ts';
import type { Turns } from '../../base/turns.ts';
import { logChange, type ChangeRequest } from '../../resources/change-log.ts';
import type { RecordStager } from '../../resources/record-stager.ts';
import type { Repository } from '../../resources/repository.ts';
import type { Store } from '../../store/store-port.ts';
import type { OptionsChecks } from '../actions/options-checks.ts';
import type { ConfigurationDocument } from './configuration-document.ts';
import type { ConfigurationPlan } from './configuration-plan.ts';
import { exportConfiguration } from './export-configuration.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';
import {
  parseAhead, stageApply, type ApplicableDocument, type StagedApply,
} from './stage-apply.ts';
import {
  computeConfigurationTag, createCommittedSource, readStoredConfiguration,
} from './stored-configuration.ts';

export type ConfigurationDeps = {
  readonly store: Store;
  readonly repositories: Readonly<Record<RecordKind['member'], Repository>>;
  readonly makeId: () => string;
  readonly optionsChecks: Pick<OptionsChecks, 'checkAhead'>;
  readonly log: Logger;
  readonly turns: Turns;
  /** How many requests or deliveries wait for a webhook. */
  readonly countWaiting: (kind: RecordKind, id: string) => number;
};

/** `etag` is the tag of the stored configuration: see `StoredConfiguration`. */
type TaggedDocument = { readonly text: string; readonly etag: string };
type TaggedPlan = { readonly plan: ConfigurationPlan; readonly etag: string };

export class ConfigurationService {
  readonly #deps: ConfigurationDeps;
  readonly #stagers: ReadonlyMap<RecordKind, RecordStager>;

  constructor(deps: ConfigurationDeps) {
    this.#deps = deps;
    this.#stagers = new Map(RECORD_KINDS.map((kind) =>
      [kind, deps.repositories[kind.member].stager]));
  }

  /** The stored configuration as a document, secrets as references to variables. */
  export(isOnlyApplied: boolean): TaggedDocument {
    const stored = readStoredConfiguration(createCommittedSource(this.#deps.store));
    return { text: exportConfiguration(stored, isOnlyApplied), etag: stored.etag };
  }

  /**
   * Makes the configuration what the document says, in one transaction. `checkTag` is called within
   * it with the tag of what is stored, and throws to have nothing done. `request` is for the log.
   * Resolves with the plan that
   * was done and the tag after it; in a dry run nothing is done, and the tag is the one that the
   * plan is for. Throws `invalid` with pointers into the document, `conflict`, and what
   * `Store.transact` throws.
   */
  async apply(
    document: ConfigurationDocument, checkTag: (etag: string) => void, hops: number,
    request: ChangeRequest,
  ): Promise<TaggedPlan> {
    const { makeId, optionsChecks, repositories } = this.#deps;
    const records = document.records.map((record) => ({
      ...record,
      newId: record.kind.naming === 'identifier' ? record.name : makeId(),
    }));
    const { staged, etag } = await optionsChecks.checkAhead(listOptions(document),
      () => this.#transact({ ...document, records }, checkTag, hops));
    if (document.isDryRun) return { plan: staged.plan, etag };
    for (const description of staged.descriptions) logChange(request, description);
    this.#log(document, staged);
    for (const { kind, id } of staged.removedRecords) {
      await repositories[kind.member].afterRemoved(id);
    }
    return { plan: staged.plan, etag };
  }

  /** A dry run is staged as well, as only that tells of all conflicts, and then given up. */
  async #transact(
    document: ApplicableDocument, checkTag: (etag: string) => void, hops: number,
  ): Promise<TaggedApply> {
    const { store, countWaiting, turns } = this.#deps;
    // The inputs of any of them: all have one clock and one maker of ids.
    const [stager] = this.#stagers.values();
    assert(stager !== undefined);
    const inputs = stager.createInputs(hops);
    const committed = readStoredConfiguration(createCommittedSource(store));
    const parsedRecords = await turns.run(
      parseAhead(this.#stagers, document, committed, inputs.nowMs)) ?? new Map();
    let dryRun: TaggedApply | null = null;
    try {
      return await store.transact((transaction) => {
        const stored = readStoredConfiguration(transaction);
        checkTag(stored.etag);
        const staged = stageApply(
          { stagers: this.#stagers, parsedRecords, countWaiting }, transaction, document, stored,
          inputs);
        if (!document.isDryRun && !document.isConfirmed) checkConfirmed(staged);
        if (!document.isDryRun) return { staged, etag: computeConfigurationTag(transaction) };
        dryRun = { staged, etag: stored.etag };
        throw DRY_RUN_END;
      });
    } catch (thrown) {
      if (thrown !== DRY_RUN_END || dryRun === null) throw thrown;
      return dryRun;
    }
  }

  #log({ set }: ConfigurationDocument, { plan: { changes, unchanged } }: StagedApply): void {
    if (changes.length === 0) return;
    const count = (wanted: string): number => changes.filter(({ sign }) => sign === wanted).length;
    this.#deps.log.info('a configuration document was applied', {
      set, created: count('+'), changed: count('~'), deleted: count('-'), unchanged,
    });
  }
}

/** Throws `conflict` where the plan does what nobody may mean. */
function checkConfirmed({ plan: { changes } }: StagedApply): void {
  const clauses = changes.flatMap(({ confirm = [] }) => confirm);
  if (clauses.length === 0) return;
  throw new AppError('conflict', `nothing was changed: this would ${clauses.join(', and ')}; send `
    + '"yes": true if that is meant');
}

/** The options of all action configurations, which their actions check before the transaction. */
function listOptions(
  { records }: ConfigurationDocument,
): Parameters<OptionsChecks['checkAhead']>[0] {
  return records.flatMap(({ kind, body: { actionType, options } }) =>
    kind.member !== 'actionConfigurations' ? []
      : [{ actionType: String(actionType), options: isJsonObject(options) ? options : {} }]);
}

type TaggedApply = { readonly staged: StagedApply; readonly etag: string };

/** Thrown to give up what a dry run has staged. */
const DRY_RUN_END = new Error('a dry run ends here');
