/**
 * Checks the options of action configurations by their actions. An action module answers from
 * another thread, and a transaction cannot wait: its check is awaited before the transaction, which
 * then finds the verdict. Options that a transaction finds unchecked, as another write has changed
 * the record meanwhile, make it give up; they are checked, and it runs again.
 */
import { isPromise } from 'node:util/types';
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { ActionRegistry } from './action-registry.ts';

type CheckedOptions = { readonly actionType: string; readonly options: JsonObject };

/** The problems of options, one sentence each, by `createKey`. */
type Verdicts = Map<string, readonly string[]>;

class UncheckedOptions extends Error {
  readonly configuration: CheckedOptions;

  constructor(configuration: CheckedOptions) {
    super('the options were not checked before their transaction');
    this.configuration = configuration;
  }
}

/** Other writes would have to change the record before each run of the transaction. */
const RUNS_MAX = 20;

export class OptionsChecks {
  readonly #actions: ActionRegistry;
  readonly #verdicts = new Set<Verdicts>();

  constructor(actions: ActionRegistry) {
    this.#actions = actions;
  }

  /**
   * Runs a write whose transaction asks `findProblems`. `configurations` are known to be asked for:
   * they are checked first, which saves a run for each. Rejects as `write` does, and with
   * `unavailable` while an action cannot check options.
   */
  async checkAhead<Result>(
    configurations: readonly CheckedOptions[], write: () => Promise<Result>,
  ): Promise<Result> {
    const verdicts: Verdicts = new Map();
    this.#verdicts.add(verdicts);
    try {
      for (const configuration of configurations) await this.#check(configuration, verdicts);
      for (let runs = 0; runs < RUNS_MAX; runs += 1) {
        try {
          return await write();
        } catch (thrown) {
          if (!(thrown instanceof UncheckedOptions)) throw thrown;
          await this.#check(thrown.configuration, verdicts);
        }
      }
    } finally {
      this.#verdicts.delete(verdicts);
    }
    throw new AppError('conflict', 'the action configuration changes all the time: try again');
  }

  /**
   * The problems of options, one sentence each; an unknown action has none here. Must be called
   * within `checkAhead`, which catches what this throws for options without a verdict.
   */
  findProblems(configuration: CheckedOptions): readonly string[] {
    const { options } = configuration;
    const action = this.#actions.find(configuration.actionType);
    if (action === undefined) return [];
    if (action.module === null) {
      const problems = action.validateOptions(options);
      if (!isPromise(problems)) return problems;
    }
    const key = createKey(configuration);
    for (const verdicts of this.#verdicts) {
      const problems = verdicts.get(key);
      if (problems !== undefined) return problems;
    }
    throw new UncheckedOptions(configuration);
  }

  async #check(configuration: CheckedOptions, verdicts: Verdicts): Promise<void> {
    const { actionType, options } = configuration;
    const problems = await this.#actions.find(actionType)?.validateOptions(options) ?? [];
    verdicts.set(createKey(configuration), problems);
  }
}

function createKey({ actionType, options }: CheckedOptions): string {
  return encodeJson([actionType, options]);
}
