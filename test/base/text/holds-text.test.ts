import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdsText } from '../../../src/base/text/holds-text.ts';
import { createRandom } from '../../support/random.ts';

test('finds what String.includes finds', () => {
  const random = createRandom(7);
  const letters = (count: number, kinds: number): string => Array.from({ length: count }, () =>
    String.fromCharCode(97 + Math.floor(random() * kinds))).join('');
  let found = 0;
  for (let round = 0; round < 300; round += 1) {
    // Long enough for both ways, of so few letters that much repeats.
    const period = letters(1 + Math.floor(random() * 5), 2);
    const text = letters(2_000, 2) + period.repeat(2_000) + letters(5_000, 2);
    const start = Math.floor(random() * (text.length - 400));
    const part = text.slice(start, start + 130 + Math.floor(random() * 200));
    const other = `${part.slice(0, -1)}c`;
    const near = part.slice(0, 100) + (part.charAt(100) === 'a' ? 'b' : 'a') + part.slice(101);
    for (const one of [part, other, near, '', part.slice(0, 3), `${text}a`]) {
      assert.equal(holdsText(text, one), text.includes(one), JSON.stringify([text, one]));
      found += Number(text.includes(one));
    }
  }
  assert(found > 300);
  assert.equal(holdsText('', ''), true);
  assert.equal(holdsText('é€'.repeat(10_000), `${'é€'.repeat(100)}é`), true);
  assert.equal(holdsText('é€'.repeat(10_000), `${'é€'.repeat(100)}éé`), false);
});

const PARTS = [
  `${'a'.repeat(4_000)}b${'a'.repeat(4_000)}`, `${'a'.repeat(300)}b${'a'.repeat(300)}`,
  `b${'a'.repeat(8_000)}`, `${'a'.repeat(8_000)}b`, `${'ab'.repeat(4_000)}b`, 'aaab', 'baaa',
  `${'a'.repeat(60)}b${'a'.repeat(60)}`,
];

for (const part of PARTS) {
  const shown = `${part.slice(0, 5)}…${part.slice(-5)} (${part.length})`;
  test(`a search through a million equal letters takes no time to speak of: ${shown}`, () => {
    const text = 'a'.repeat(1 << 20);
    const before = process.cpuUsage();
    assert.equal(holdsText(text, part), false);
    const { user } = process.cpuUsage(before);
    // Some 5 ms; the worst of them takes String.includes a second.
    assert(user < 250_000, `${user} µs`);
  });
}
