/** What people and forms are told of the options of an action, as their rows say it. */
import type { JsonValue, MemberSchemas } from '../../base/schema.ts';
import { createSchemas, type JsonSchemaObject } from '../../server/documents/openapi-schema.ts';

export type OptionDoc = {
  readonly name: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly default?: JsonValue;
  /** The values that it may have, where they can be listed. */
  readonly choices?: readonly string[];
  /** Its JSON Schema, as /openapi.json has that of a member. */
  readonly schema: JsonSchemaObject;
};

export function describeOptions(members: MemberSchemas): readonly OptionDoc[] {
  const { properties } = createSchemas().convert({ kind: 'object', members }, 'body') as {
    readonly properties: Readonly<Record<string, JsonSchemaObject>>;
  };
  return Object.entries(members).map(([name, member]) => {
    const { description = '', isRequired, default: defaultValue, schema } = member;
    const choices = schema.kind === 'string' ? schema.values : undefined;
    return {
      name, description,
      ...isRequired === true ? { isRequired } : {},
      ...defaultValue === undefined ? {} : { default: defaultValue },
      ...choices === undefined ? {} : { choices },
      schema: properties[name] ?? {},
    };
  });
}
