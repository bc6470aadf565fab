/** Short forms for the rows of the command tables. */
import type { OptionSpec } from './spec.ts';

export const text = (placeholder: string, meaning: string): OptionSpec =>
  ({ type: 'string', placeholder, meaning });
export const flag = (meaning: string): OptionSpec => ({ type: 'boolean', meaning });
export const required = (option: OptionSpec): OptionSpec => ({ ...option, isRequired: true });
