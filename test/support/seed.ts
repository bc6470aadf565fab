/**
 * The seed of what a test tries at random. `npm test` tries the same each time; a long run tries
 * something else each time, unless `TEST_SEED` names the seed of a failure. A test says its seed
 * when it fails.
 */
import { IS_LONG } from './long.ts';

export function createSeed(): number {
  const text = process.env['TEST_SEED'];
  if (text !== undefined) return Number(text);
  return IS_LONG ? Math.floor(Math.random() * 2 ** 32) : 33;
}
