/**
 * The types of the values that a schema describes, derived from it: a record as it is stored, as
 * callers send it, and as they see it. An object is described by `describeObject`, and members that
 * several objects have with `satisfies MemberSchema`; where a schema is declared with a wider type,
 * TypeScript no longer knows its members. `SchemaOf` is for what members cannot say.
 */
import type {
  JsonObject, JsonValue, MemberSchema, MemberSchemas, ObjectSchema, Schema,
} from './schema.ts';

/** Describes an object, so that the types of its values are known. */
export function describeObject<
  const Members extends MemberSchemas, const Name extends string | undefined = undefined,
>(schema: ObjectSchema & { readonly members: Members; readonly name?: Name }):
ObjectSchema & { readonly name: Name } & SchemaTypes<{
  stored: Shape<Members, 'stored'>; input: Shape<Members, 'input'>; shown: Shape<Members, 'shown'>;
}> {
  return schema as never;
}

/** A schema's types, at compile time alone: a record as it is stored, sent and shown. */
type SchemaTypes<Types extends Record<View, unknown>> = { readonly types?: Types };

/** A schema whose members do not say all that its values are. */
export type SchemaOf<Value, Kind extends Schema = ObjectSchema> =
  Kind & SchemaTypes<Record<View, Value>>;

/** A stored record of the schema. */
export type RecordOf<Described> = ViewOf<Described, 'stored'>;
/** A body that callers send; null counts as absent. */
export type InputOf<Described> = ViewOf<Described, 'input'>;
/** A record as callers see it. */
export type AnswerOf<Described> = ViewOf<Described, 'shown'>;

type View = 'stored' | 'input' | 'shown';

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

type MemberValue<Member extends MemberSchema, V extends View> = ViewOf<Member['schema'], V>
  | (V extends 'input' ? Member extends PresentMember['input'] ? never : null
    : V extends 'shown' ? Member extends { readonly isNullable: true } ? null : never : never);

/** The members that a view does not have, and those that it always has. */
type HiddenMember = {
  readonly stored: never;
  readonly input: { readonly readOnly: string };
  readonly shown: { readonly isWriteOnly: true };
};
type PresentMember = {
  readonly stored: { readonly isRequired: true } | { readonly isAlwaysPresent: true }
    // `{}`: any default but undefined and null.
    | (({ readonly default: {} } | { readonly readOnly: string })
      & { readonly isAlwaysPresent?: true });
  readonly input: { readonly isRequired: true };
  readonly shown: PresentMember['stored'] | { readonly isAlwaysShown: true };
};
type Visible<Members extends MemberSchemas, V extends View> = {
  [Name in keyof Members]: Members[Name] extends HiddenMember[V] ? never : Name;
}[keyof Members];
type Present<Members extends MemberSchemas, V extends View> = {
  [Name in Visible<Members, V>]: Members[Name] extends PresentMember[V] ? Name : never;
}[Visible<Members, V>];
