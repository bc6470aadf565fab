import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemberSchema, Schema } from '../../src/base/schema.ts';
import { incomingSchema } from '../../src/webhooks/incoming/incoming-webhook.ts';
import { outgoingSchema } from '../../src/webhooks/outgoing/outgoing-webhook.ts';

/** What forms do not show: a choice stands for them, or an editor of conditions. */
const UNSHOWN = /\.(preset|scheme|when|successWhen)\./;

test('what forms say of the members of webhooks are words of people', () => {
  const wrong = [
    ...listMembers(incomingSchema, 'incoming'), ...listMembers(outgoingSchema, 'outgoing'),
  ].flatMap(([path, { form, description = '' }]) => {
    const hint = form?.hint ?? description;
    return form?.group === 'none' || UNSHOWN.test(`${path}.`) && !path.endsWith('hen')
      || !/GET \/|by its identifier|presets?\b|the answer `|[{[] ?"\w+":/.test(hint)
      ? [] : [`${path}: ${hint}`];
  });
  assert.deepEqual(wrong, []);
});

function listMembers(
  schema: Schema, path: string,
): readonly (readonly [path: string, member: MemberSchema])[] {
  if (schema.kind === 'array') return listMembers(schema.items, path);
  if (schema.kind !== 'object' || UNSHOWN.test(`${path}.`)) return [];
  return Object.entries(schema.members).flatMap(([name, member]) =>
    [[`${path}.${name}`, member] as const, ...listMembers(member.schema, `${path}.${name}`)]);
}
