/** Faults of applies and exports: half a plan, a plan that is not done, a secret that is shown. */
import type { PlantedFault } from './fault.ts';

const APPLY = ['webhooks/configuration/apply.test.ts'];
const EXPORT = ['webhooks/configuration/export.test.ts'];

export const CONFIGURATION_FAULTS: readonly PlantedFault[] = [
  // What people made, or another set, is deleted; or a switch of an operator is undone.
  {
    file: 'webhooks/configuration/stage-apply.ts', text: 'record.set === set',
    replacement: 'record.set !== null', tests: APPLY,
  },
  {
    file: 'webhooks/applied-records.ts', text: 'if (after === null) transaction.delete',
    replacement: 'if (after !== null) transaction.delete', tests: APPLY,
  },
  {
    file: 'webhooks/health/disabled-members.ts', text: "current['enabled'] ?? true",
    replacement: 'true', tests: APPLY,
  },
  // Names that cannot go from one webhook to another.
  {
    file: 'webhooks/configuration/stage-apply.ts', text: '  freeNames(context, writes);\n',
    replacement: '', tests: APPLY,
  },
  // A webhook that the same apply prunes is named as one that uses a configuration.
  {
    file: 'webhooks/webhook-resources.ts',
    text: 'transaction.find(collection, decode(bytes).identifier) ?? []',
    replacement: 'store.collection(collection).findBytes(decode(bytes).identifier) ?? []',
    tests: APPLY,
  },
  // A dry run that does something, or a plan that is done though it is another one.
  {
    file: 'webhooks/configuration/configuration-service.ts', text: 'throw DRY_RUN_END;',
    replacement: 'return dryRun;', tests: APPLY,
  },
  {
    file: 'webhooks/configuration/stored-configuration.ts',
    text: 'hash.update(sliceHead(key, id, bytes));',
    replacement: 'hash.update(id);', tests: APPLY,
  },
  // An export that shows what lists hide, or cannot be applied to the same bytes.
  {
    file: 'webhooks/configuration/export-configuration.ts',
    text: 'return value === masked ? value : createReference(steps);',
    replacement: 'return value;', tests: EXPORT,
  },
  {
    file: 'webhooks/configuration/variable-names.ts',
    text: "return takeUniqueName(addPrefix(words.join('_')), names, { separator: '_' });",
    replacement: "return addPrefix(words.join('_'));", tests: EXPORT,
  },
];
