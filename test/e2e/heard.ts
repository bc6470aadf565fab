/** What a test has heard from the program, and what must be in none of it. */
import assert from 'node:assert/strict';

/** All that came out, by where it came from. */
export class Heard {
  readonly texts: (readonly [string, string])[] = [];
  readonly forbidden: Set<string>;

  constructor(forbidden: readonly string[]) {
    this.forbidden = new Set(forbidden);
  }

  add(origin: string, ...texts: readonly string[]): void {
    for (const text of texts) this.texts.push([origin, text]);
  }

  check(): void {
    const found = this.texts.flatMap(([origin, text]) => [...this.forbidden]
      .filter((secret) => text.includes(secret)).map((secret) =>
        `${origin} tells …${text.slice(Math.max(0, text.indexOf(secret) - 200)).slice(0, 300)}`));
    assert.deepEqual(found, []);
  }
}
