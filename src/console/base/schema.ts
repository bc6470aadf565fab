/** The models as the service publishes them, from `/openapi.json`: forms are made from these. */
import { get } from './api.ts';

export type ModelSchema = {
  readonly $ref?: string;
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
  readonly default?: unknown;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
};

type Document = {
  readonly components?: { readonly schemas?: Readonly<Record<string, ModelSchema>> };
};

let asked: Promise<Document> | null = null;
let models: Readonly<Record<string, ModelSchema>> = {};

/** The model of that name, `Book`. What it refers to is found by `resolve` from then on. */
export async function model(name: string): Promise<ModelSchema> {
  asked ??= get<Document>('/openapi.json');
  try {
    models = (await asked).components?.schemas ?? {};
  } catch (thrown) {
    asked = null;
    throw thrown;
  }
  return models[name] ?? {};
}

/** The model that a schema is, or refers to; null for one without a name. */
export function nameOf({ $ref, anyOf = [] }: ModelSchema): string | null {
  const own = $ref?.split('/').at(-1);
  return own ?? anyOf.map(nameOf).find((name) => name !== null) ?? null;
}

/** What a reference leads to, and without the null that an optional member may be. */
export function resolve(schema: ModelSchema): ModelSchema {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return resolve({ ...models[name], ...described(schema) });
  const { anyOf = [], ...outer } = schema;
  const first = anyOf.find(({ type }) => type !== 'null');
  return first === undefined ? schema : resolve({ ...first, ...outer });
}

export function typeOf({ type }: ModelSchema): string {
  if (typeof type === 'string') return type;
  return type?.find((one) => one !== 'null') ?? 'json';
}

function described({ description }: ModelSchema): ModelSchema {
  return description === undefined ? {} : { description };
}
