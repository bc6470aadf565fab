/**
 * A model, such as that of a book, is a table: an ObjectSchema. Each MemberSchema is a row of it:
 * what the member is called, what it may hold and how it is stored. `fields.ts` validates with the
 * table, `server/documents` publishes it, and `schema-types.ts` derives the types of its values, so
 * that none can differ.
 */

import type { JsonNumber } from './exact-number.ts';

export type Schema =
  | StringSchema | NumberSchema | BooleanSchema | ArraySchema | ObjectSchema | JsonSchema;

/** Lengths count Unicode code points. */
export type StringSchema = {
  readonly kind: 'string';
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** In UTF-8, for what is used as bytes. */
  readonly bytesMax?: number | undefined;
  /** At least one character that is not white space. */
  readonly isNotBlank?: boolean | undefined;
  readonly values?: readonly string[] | undefined;
  /** The one of `values` that another word means, such as `read` for `done`. */
  readonly findMeant?: ((value: string) => string | undefined) | undefined;
  readonly pattern?: RegExp | undefined;
  /** Tells the values that `pattern` and `canonical` accept: "must be <mustBe>". */
  readonly mustBe?: string | undefined;
  /** The stored form of the value, mostly the value itself; null refuses it. */
  readonly canonical?: ((value: string) => string | null) | undefined;
  /** Why `pattern` or `canonical` refused the value, where that says more than `mustBe`. */
  readonly explain?: ((value: string) => string) | undefined;
  /** Why a JSON number will not do: "must be a string, not a number: <this>". */
  readonly numberHint?: string | undefined;
  /** JSON Schema `format`, for publication only. */
  readonly format?: string | undefined;
};
type NumberSchema = {
  readonly kind: 'integer' | 'number'; readonly minimum: number; readonly maximum: number;
  /** A value is whole in such parts of one: 4 for quarters. Default: every fraction is taken. */
  readonly partsOfOne?: number | undefined;
};
type BooleanSchema = { readonly kind: 'boolean' };
export type ArraySchema = {
  readonly kind: 'array';
  readonly items: Schema;
  readonly maxItems: number;
  readonly isUnique?: boolean | undefined;
  /**
   * Returns that by which two items count as the same where `isUnique`; undefined for an item that
   * is not valid. Default: the item.
   */
  readonly identify?: ((item: JsonValue) => JsonValue | undefined) | undefined;
};
export type ObjectSchema = {
  readonly kind: 'object';
  /** The name it is published under in the OpenAPI document, such as `Book`. */
  readonly name?: string | undefined;
  readonly members: MemberSchemas;
  /** At least one member must be present. */
  readonly isNotEmpty?: boolean | undefined;
  /** An object without members counts as absent. */
  readonly isDroppedEmpty?: boolean | undefined;
  /**
   * Called when the object has an error. Its text, such as an example, is reported before the
   * others; null adds none. `value` holds only the members that parsed.
   */
  readonly hint?: ((value: JsonObject, input: JsonObject) => string | null) | undefined;
  /**
   * Finds broken rules across members. `value` holds only the members that parsed, so any may be
   * missing. A violation is dropped if its pointer, or one below it, has an error already.
   */
  readonly check?: ((
    value: JsonObject, input: JsonObject,
  ) => readonly { pointer: string; detail: string }[]) | undefined;
};
/** Free JSON, the caller's own. `isObject`: the outermost value must be an object. */
export type JsonSchema = {
  readonly kind: 'json';
  readonly isObject: boolean;
  readonly bytesMax: number;
  readonly depthMax: number;
};

export type MemberSchemas = Readonly<Record<string, MemberSchema>>;

export type MemberSchema = {
  readonly schema: Schema;
  readonly isRequired?: boolean | undefined;
  /**
   * `ignored`: may stand in a request body and is dropped. `echo`: the parser passes it on as it
   * came, so the service must compare it with what is stored, or overwrite it. Either is published
   * as readOnly.
   */
  readonly readOnly?: 'ignored' | 'echo' | undefined;
  /** Whether null in the input is a value, and not the absence of one. */
  readonly isNullKept?: boolean | undefined;
  /** Shown as null when there is no value; as input, every optional member may be null. */
  readonly isNullable?: boolean;
  /**
   * Whether every answer has it, and every stored record unless it is computed. Default: if it is
   * read-only or has a default. A required member is always there.
   */
  readonly isAlwaysPresent?: boolean;
  /**
   * Accepted but never shown, and kept by a replacement that leaves it out. A text or a number, and
   * not within a list: `mask-secrets.ts` does not look there.
   */
  readonly isWriteOnly?: boolean;
  /**
   * Every value in it is shown as `***`, and exported as `{ "$env": "<NAME>" }`. The option of a
   * text is `--<name>-file`.
   */
  readonly isSecret?: boolean;
  /** No secret, whatever it looks like: shown as it is. */
  readonly isPublic?: boolean;
  /** Stored when the member is absent or null. */
  readonly default?: JsonValue | undefined;
  /** The label in forms, such as `Time limit`; by default the words of the member's name. */
  readonly label?: string;
  /**
   * Shown below the field of a form and in OpenAPI; its first sentence is the help of the option.
   * The text says units, and what holds without a value. It leaves out the default, which is
   * appended.
   */
  readonly description?: string | undefined;
  readonly form?: MemberForm;
  /**
   * The options of commands that set the member. Absent: one, named after the member; `[]`: none.
   * `--unset` takes the name of a single option; of a list, and of a secret text, that of the
   * member.
   */
  readonly option?: MemberOption | readonly MemberOption[] | undefined;
};

/** How forms ask for a member, where its kind does not say it. It is published as `x-form`. */
export type MemberForm = {
  /**
   * `action`: in the form of what is done. `none`: never. The others: folded, as few need it, those
   * but `more` among others of their kind.
   */
  readonly group?:
    | 'more' | 'request' | 'attempts' | 'pace' | 'access' | 'action' | 'none';
  /** Stands in place of the description, where that speaks of the API. */
  readonly hint?: string;
  /** The word for one item of a list. */
  readonly item?: string;
  /** Whether an empty text is an item, too. */
  readonly hasEmptyItems?: true;
  /** How it is edited, where its kind does not say it: see special-fields.ts of the console. */
  readonly field?:
    | 'action' | 'action-options' | 'command' | 'delay' | 'files' | 'json' | 'lines' | 'pairs'
    | 'retries' | 'sender' | 'signing' | 'stars' | 'statuses' | 'variables';
  /**
   * The choices: texts, or names of the only member of an object whose value is typed into an
   * input with that label. The first is the default, which is not sent.
   */
  readonly choices?: readonly (readonly [value: string, label: string, inputLabel?: string])[];
};

export type MemberOption = {
  /** By default the member's name in kebab case. */
  readonly name?: string;
  /** By default as the kind of the member asks. */
  readonly placeholder?: string;
  /** By default the first sentence of the description. */
  readonly help?: string;
  readonly values?: readonly string[];
  /** Some of the allowed values, for completion. */
  readonly suggests?: readonly string[];
  readonly completes?: 'file' | 'books' | 'actions' | 'action-configurations' | 'presets'
    | 'incoming-webhooks' | 'outgoing-webhooks';
  readonly isFlag?: boolean;
  readonly isRepeatable?: boolean;
  /** Commands that change a record do not have it. */
  readonly isForNew?: boolean;
  /** Its value may stand on the command line if it looks like a secret: others send it anyway. */
  readonly isPublic?: boolean;
};

export type JsonValue =
  | string | JsonNumber | boolean | null | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };
export type JsonObject = { readonly [name: string]: JsonValue };
