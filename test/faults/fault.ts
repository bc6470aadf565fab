/**
 * Planted faults: what the suite is measured by. Each names one place in `src/`, what stands there,
 * a plausible mistake in its place, and the test files that must fail with it.
 */
import assert from 'node:assert/strict';

export type PlantedFault = {
  /** Below `src/`. */
  readonly file: string;
  /** Stands in the file once. */
  readonly text: string;
  readonly replacement: string;
  /** Below `test/`; at least one of them must fail. */
  readonly tests: readonly string[];
};

/**
 * The source with the fault in it. Throws AssertionError where the text does not stand there once.
 */
export function plantFault(source: string, { file, text, replacement }: PlantedFault): string {
  assert.equal(source.split(text).length, 2, `src/${file} holds this once: ${text}`);
  return source.replace(text, () => replacement);
}
