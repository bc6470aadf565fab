/** What every description of a resource keeps to, for those who rely on it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenResource } from '../../src/access/token-resource.ts';
import { TOKENS } from '../../src/access/tokens.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import type { Resource } from '../../src/resources/resource.ts';
import { configurationResource } from '../../src/webhooks/actions/action-configuration.ts';
import { deliveryCollection } from '../../src/webhooks/deliveries/delivery.ts';
import { deliveryResource } from '../../src/webhooks/deliveries/delivery-resource.ts';
import { incomingResource } from '../../src/webhooks/incoming/incoming-resource.ts';
import { outgoingResource } from '../../src/webhooks/outgoing/outgoing-resource.ts';

const RESOURCES: readonly Resource[] = [
  bookResource, incomingResource, configurationResource, outgoingResource,
];

test('a path ends with the name of its collection, as identifiers are looked up by it', () => {
  for (const { path, collection } of [
    ...RESOURCES, { ...deliveryResource, collection: deliveryCollection },
    { ...tokenResource, collection: TOKENS },
  ]) {
    assert.equal(path.split('/').at(-1), collection.name);
  }
});

for (const { noun, schema, collection, columns } of RESOURCES) {
  test(`${noun}: the model begins with the key and the times`, () => {
    assert.deepEqual(Object.keys(schema.members).slice(0, 3),
      [collection.key, 'createdAt', 'updatedAt']);
  });

  test(`${noun}: columns show members that there are and that may be seen`, () => {
    for (const { member } of columns) {
      assert.ok(Object.hasOwn(schema.members, member), member);
      assert.notEqual(schema.members[member]?.isWriteOnly, true, member);
    }
  });

  test(`${noun}: a unique member is text`, () => {
    for (const member of collection.unique ?? []) {
      assert.equal(schema.members[member]?.schema.kind, 'string', member);
    }
  });
}
