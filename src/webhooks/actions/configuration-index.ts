/** An index of action configurations, each parsed once for a change and not for a request. */
import type { JsonObject } from '../../base/schema.ts';
import type { Store } from '../../store/store-port.ts';
import { followRecords } from '../../resources/projection.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import { configurationCollection, type ActionConfiguration } from './action-configuration.ts';

type RunnableConfiguration = {
  readonly identifier: string;
  readonly actionType: string;
  /** Deeply frozen, as all runs of the action get the same object. */
  readonly options: JsonObject;
};

export class ConfigurationIndex {
  readonly #configurations = new Map<string, RunnableConfiguration>();

  constructor(store: Store) {
    const { name } = configurationCollection;
    followRecords(store.collection(name), ({ id, after }) => {
      if (after === null) this.#configurations.delete(id);
      else this.#configurations.set(id, toRunnable(decodeConfiguration(after)));
    });
  }

  find(identifier: string): RunnableConfiguration | undefined {
    return this.#configurations.get(identifier);
  }

  all(): Iterable<RunnableConfiguration> {
    return this.#configurations.values();
  }
}

export function decodeConfiguration(bytes: Buffer): ActionConfiguration {
  return decodeRecordAs<ActionConfiguration>(bytes, ({ identifier, actionType }) =>
    typeof identifier === 'string' && typeof actionType === 'string');
}

function toRunnable(configuration: ActionConfiguration): RunnableConfiguration {
  const { identifier, actionType, options } = configuration;
  return { identifier, actionType, options: deepFreeze(options ?? {}) as JsonObject };
}

function deepFreeze(value: object): object {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
