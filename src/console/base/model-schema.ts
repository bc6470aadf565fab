/** Loads the schemas of models from `/openapi.json`: forms are made from these. */
import type { MemberForm } from '../../base/schema.ts';
import { getJson } from './api-calls.ts';

export type ModelSchema = {
  readonly $ref?: string;
  readonly title?: string;
  readonly 'x-form'?: MemberForm;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ModelSchema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ModelSchema>>;
  readonly items?: ModelSchema;
  readonly format?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly default?: unknown;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
};

type ModelDocument = {
  readonly components?: { readonly schemas?: Readonly<Record<string, ModelSchema>> };
};

let loadingDocument: Promise<ModelDocument> | null = null;
let models: Readonly<Record<string, ModelSchema>> = {};

/** Loads the model of a name, such as `Book`. `resolveSchema` finds its references afterwards. */
export async function loadModel(name: string): Promise<ModelSchema> {
  loadingDocument ??= getJson<ModelDocument>('/openapi.json');
  try {
    models = (await loadingDocument).components?.schemas ?? {};
  } catch (thrown) {
    // The next call tries again.
    loadingDocument = null;
    throw thrown;
  }
  return models[name] ?? {};
}

/** A model of only these members, in this order. */
export function pickMembers(model: ModelSchema, names: readonly string[]): ModelSchema {
  const { properties = {}, required = [] } = model;
  return {
    properties: Object.fromEntries(names.map((name) => [name, properties[name] ?? {}])),
    required: required.filter((name) => names.includes(name)),
  };
}

/** A model of only those members for which `isIncluded` returns true. */
export function filterMembers(
  model: ModelSchema, isIncluded: (member: ModelSchema) => boolean,
): ModelSchema {
  return pickMembers(model, Object.entries(model.properties ?? {})
    .filter(([, member]) => isIncluded(member)).map(([name]) => name));
}

/** The name of the model that a schema refers to; null for an inline schema. */
export function findModelName({ $ref, anyOf = [] }: ModelSchema): string | null {
  const ownName = $ref?.split('/').at(-1);
  return ownName ?? anyOf.map(findModelName).find((name) => name !== null) ?? null;
}

/** Follows references, and drops the alternative `null` of an optional member. */
export function resolveSchema({ $ref, ...schema }: ModelSchema): ModelSchema {
  const name = $ref?.split('/').at(-1);
  if (name !== undefined) return resolveSchema({ ...models[name], ...schema });
  const { anyOf = [], ...outer } = schema;
  const first = anyOf.find(({ type }) => type !== 'null');
  return first === undefined ? schema : resolveSchema({ ...first, ...outer });
}

/** Whether forms have a field for the member. Never said by the model that it refers to. */
export function hasField({ readOnly, 'x-form': form }: ModelSchema): boolean {
  return readOnly !== true && form?.group !== 'none';
}

/** The type of a resolved schema; `json` for a schema of any type. */
export function findType({ type }: ModelSchema): string {
  if (typeof type === 'string') return type;
  return type?.find((name) => name !== 'null') ?? 'json';
}
