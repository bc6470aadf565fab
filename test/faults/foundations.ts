/** Faults of the settings and of the base: what leaks, what has no limit, what ends a chain. */
import type { PlantedFault } from './fault.ts';

const SETTINGS = ['settings/load-settings.test.ts'];

export const FOUNDATION_FAULTS: readonly PlantedFault[] = [
  {
    file: 'settings/load-settings.ts', text: "const actual = row.isSecret ? '' :",
    replacement: 'const actual =', tests: SETTINGS,
  },
  {
    file: 'settings/settings-sources.ts', text: 'whole !== undefined && whole !== text',
    replacement: 'whole === text && whole !== text', tests: SETTINGS,
  },
  {
    file: 'settings/settings-sources.ts', text: 'kind.isNullable && canUnset ? null',
    replacement: 'kind.isNullable ? null', tests: SETTINGS,
  },
  {
    file: 'settings/settings-sources.ts', text: 'if (isServiceLink(variable, text)) continue;',
    replacement: '', tests: SETTINGS,
  },
  {
    file: 'base/log.ts', text: '|privatekey|credential|authorization|cookie',
    replacement: '|privatekey|credential|cookie', tests: ['base/log.test.ts'],
  },
  {
    file: 'base/log.ts', text: 'const LAYERS_MAX = 4;', replacement: 'const LAYERS_MAX = 1;',
    tests: ['base/log.test.ts', 'base/log-values.test.ts'],
  },
  {
    file: 'base/json/parse.ts', text: 'if (depth > JSON_DEPTH_MAX) return true;', replacement: '',
    tests: ['base/json/parse.test.ts'],
  },
  {
    file: 'base/turns.ts', text: 'if (next === undefined) running -= 1;',
    replacement: 'if (next === undefined) return;', tests: ['base/turns.test.ts'],
  },
  {
    file: 'base/webhook-chain.ts', text: 'hops = Math.max(hops, Number(count))',
    replacement: 'hops = Number(count)', tests: ['base/webhook-chain.test.ts'],
  },
];
