/** The parts of an OpenAPI document that the page shows; each may be missing. */

export type DocumentView = {
  readonly info?: { readonly title?: string; readonly version?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, OperationView>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, SchemaView>> };
};

export type OperationView = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterView[];
  readonly requestBody?: {
    readonly required?: boolean; readonly content?: Readonly<Record<string, MediaView>>;
  };
  readonly responses?: Readonly<Record<string, ResponseView>>;
  readonly security?: readonly unknown[];
};

export type ResponseView = {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, MediaView>>;
};

export type ParameterView = {
  readonly name?: string;
  readonly in?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: SchemaView;
};

export type MediaView = { readonly schema?: SchemaView; readonly example?: unknown };

export type SchemaView = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaView[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaView>>;
  readonly items?: SchemaView;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
};

/** The name of the model that the schema refers to; undefined when it is no reference. */
export function readModelName({ $ref }: SchemaView): string | undefined {
  return $ref?.split('/').at(-1);
}

/** The schema that a reference refers to; any other schema as it is. */
export function resolveSchema(schema: SchemaView, document: DocumentView): SchemaView {
  const name = readModelName(schema);
  return name === undefined ? schema : document.components?.schemas?.[name] ?? {};
}
