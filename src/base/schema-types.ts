/**
 * The types of the values that a schema describes, derived from it: a record as it is stored, as
 * callers send it, and as they see it. An object is described by `describeObject`, and members that
 * several objects have with `as const satisfies MemberSchema`: without `as const`, or with a wider
 * type, TypeScript no longer knows the members, or takes a choice for any text. `SchemaOf<Value>`
 * states the type of a schema's values by hand.
 */
import type {
  JsonObject, JsonValue, MemberSchema, MemberSchemas, ObjectSchema, Schema,
} from './schema.ts';

/** Gives the schema itself, as a type that knows those of its values. */
export function describeObject<
  const Members extends MemberSchemas, const Name extends string | undefined = undefined,
>(schema: ObjectSchema & { readonly members: Members; readonly name?: Name }):
ObjectSchema & { readonly name: Name } & SchemaTypes<{
  stored: Shape<Members, 'stored'>; input: Shape<Members, 'input'>; shown: Shape<Members, 'shown'>;
}> {
  return schema as never;
}

/** The types of a schema's values. They are for the compiler: no schema has the member `types`. */
type SchemaTypes<Types extends Record<View, unknown>> = { readonly types?: Types };

/** A schema of values whose type its members do not say. */
export type SchemaOf<Value, Kind extends Schema = ObjectSchema> =
  Kind & SchemaTypes<Record<View, Value>>;

export type RecordOf<Described> = ViewOf<Described, 'stored'>;
/** A body that callers send; null counts as absent. */
export type InputOf<Described> = ViewOf<Described, 'input'>;
/** A record as callers see it. */
export type AnswerOf<Described> = ViewOf<Described, 'shown'>;

type View = 'stored' | 'input' | 'shown';

/**
 * A schema without `types` does not fit the first line: a type whose members are all optional fits
 * only what has one of them. The last `JsonObject` is for objects whose members are not known.
 */
type ViewOf<Described, V extends View> =
  Described extends { readonly types?: infer Types extends Record<View, unknown> } ? Types[V]
    : Described extends { readonly values: readonly (infer Value)[] } ? Value
      : Described extends { readonly kind: 'string' } ? string
        : Described extends { readonly kind: 'integer' | 'number' } ? number
          : Described extends { readonly kind: 'boolean' } ? boolean
            : Described extends { readonly items: infer Item } ? readonly ViewOf<Item, V>[]
              : Described extends { readonly isObject: false } ? JsonValue : JsonObject;

type Shape<Members extends MemberSchemas, V extends View> = Flat<
  & { readonly [Name in Present<Members, V>]: MemberValue<Members[Name], V> }
  & { readonly [Name in Exclude<Visible<Members, V>, Present<Members, V>>]?:
    MemberValue<Members[Name], V> }>;
type Flat<Type> = { [Name in keyof Type]: Type[Name] } & {};

type MemberValue<Member extends MemberSchema, V extends View> =
  ViewOf<Member['schema'], V> | NullIn<Member, V>;
/** null, if the view may have it in place of a value. */
type NullIn<Member extends MemberSchema, V extends View> =
  V extends 'input' ? Member extends PresentMember['input'] ? never : null
    : [V, Member] extends ['shown', { readonly isNullable: true }] ? null : never;

/** The members that a view does not have. */
type HiddenMember = {
  readonly stored: never;
  readonly input: { readonly readOnly: string };
  readonly shown: { readonly isWriteOnly: true };
};
/** The members that a view always has; openapi-schema.ts has the same rule. */
type PresentMember = {
  readonly stored: { readonly isRequired: true } | { readonly isAlwaysPresent: true }
    // `{}` is each value but undefined and null; these rows may say `isAlwaysPresent: false`.
    | (({ readonly default: {} } | { readonly readOnly: string })
      & { readonly isAlwaysPresent?: true });
  readonly input: { readonly isRequired: true };
  readonly shown: PresentMember['stored'];
};
type Visible<Members extends MemberSchemas, V extends View> = {
  [Name in keyof Members]: Members[Name] extends HiddenMember[V] ? never : Name;
}[keyof Members];
type Present<Members extends MemberSchemas, V extends View> = {
  [Name in Visible<Members, V>]: Members[Name] extends PresentMember[V] ? Name : never;
}[Visible<Members, V>];
