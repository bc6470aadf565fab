import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeForeignName } from '../../../src/webhooks/actions/event-name.ts';

for (const [name, meant] of [
  ['book.create', 'book.created'], ['books.created', 'book.created'], ['book', 'book.*'],
  ['Book.Created', 'book.created'], ['webhook.disable', 'webhook.disabled'],
  ['books.*', 'book.*'], ['store.backup-failed', 'store.backup_failed'],
]) {
  test(`a trigger ${name} was meant for ${meant}`, () => {
    assert.equal(describeForeignName(String(name)),
      `nothing emits ${name} by itself: did you mean \`${meant}\`?`);
  });
}

test('a trigger that begins as ours do and is near none is to be emitted by somebody', () => {
  assert.equal(describeForeignName('store.zzzzzzzzzzzzz'),
    'nothing emits store.zzzzzzzzzzzzz by itself: you have to emit it');
});

test('names of ours, and plainly those of others, are as they are meant', () => {
  for (const name of ['book.created', 'book.*', 'store.*', 'delivery.failed', '*', 'order.created',
    'foo.created', 'score.added', 'user.updated', 'order']) {
    assert.equal(describeForeignName(name), null, name);
  }
});
