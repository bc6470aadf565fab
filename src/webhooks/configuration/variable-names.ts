/**
 * Names of environment variables for what an exported document does not show: `GH_SECRET` is the
 * secret of the webhook `gh`. No two are the same, and none begins with `HOOKSHELF_`, which is for
 * settings.
 */
import { takeUniqueName } from '../../base/text/unique-name.ts';

export type CreateVariableName = (record: string, steps: readonly string[]) => string;

/** `steps` lead to the value within its record: `['headers', 'Authorization']`. */
export function createVariableNames(): CreateVariableName {
  const names = new Set<string>();
  return (record, steps) => {
    // The member says less than what is in it: `options.password` is PASSWORD.
    const places = steps.length > 1 ? steps.slice(1) : steps;
    const words = [record, ...places].map(toWords).filter((part) => part !== '');
    return takeUniqueName(addPrefix(words.join('_')), names, { separator: '_' });
  };
}

const SETTING_PREFIX = 'HOOKSHELF_';

function addPrefix(name: string): string {
  return /^[0-9]/.test(name) || !name.includes('_') || name.startsWith(SETTING_PREFIX)
    ? `HOOK_${name}` : name;
}

/** `targetUrl` and `target-url` are TARGET_URL. */
function toWords(text: string): string {
  return text.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
}
