/** Parses a header line as people write it. */
import { AppError } from '../../../base/errors.ts';

/** Parses `Name: value`. Throws `usage`, naming the option. */
export function parseHeaderLine(
  line: string, option: string,
): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  // Without a colon the name is empty, and refused below.
  const name = line.slice(0, Math.max(colon, 0));
  const value = line.slice(colon + 1).trim();
  if (name === '' || /\s/.test(name) || /[\r\n]/.test(value)) {
    throw new AppError('usage', `${option} must be written 'Name: value'`);
  }
  return [name, value];
}
