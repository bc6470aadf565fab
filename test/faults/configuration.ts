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
  {
    file: 'webhooks/configuration/stage-apply.ts', text: '  if (before === null) {\n',
    replacement: "  if (id !== '') {\n", tests: APPLY,
  },
  {
    file: 'webhooks/configuration/stage-apply.ts', text: 'document.isPruning ? listPruned',
    replacement: 'document.records.length >= 0 ? listPruned', tests: APPLY,
  },
  {
    file: 'webhooks/applied-records.ts', text: 'mark.createdAt === createdAt ? mark.set : null',
    replacement: "mark.createdAt === '' ? null : mark.set", tests: APPLY,
  },
  // What a webhook still uses goes, or what waited for one that is gone stays.
  {
    file: 'webhooks/configuration/stage-apply.ts',
    text: '    getStager(deps, kind).check(transaction, change, inputs);\n', replacement: '',
    tests: APPLY,
  },
  {
    file: 'webhooks/configuration/configuration-service.ts',
    text: 'await repositories[kind.member].afterRemoved(id);',
    replacement: 'repositories[kind.member].stager;', tests: APPLY,
  },
  // A document that says less than it seems to, and a plan that says less than is done.
  {
    file: 'webhooks/configuration/configuration-document.ts',
    text: '    errors.push(...findUnresolved(body, pointer));\n', replacement: '', tests: APPLY,
  },
  {
    file: 'webhooks/configuration/configuration-document.ts', text: 'names.has(String(name))',
    replacement: "names.has('')", tests: APPLY,
  },
  {
    file: 'webhooks/configuration/configuration-plan.ts',
    text: "name === 'secret' && after[name] === undefined ? SECRET_REMOVED : name",
    replacement: 'name === SECRET_REMOVED ? SECRET_REMOVED : name', tests: APPLY,
  },
  {
    file: 'webhooks/configuration/free-json.ts', text: 'return [name, sortMembers(value)];',
    replacement: 'return [name, value];', tests: APPLY,
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
  {
    file: 'webhooks/configuration/configuration-service.ts',
    text: '        checkTag(stored.etag);\n', replacement: '', tests: APPLY,
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
  {
    file: 'webhooks/configuration/variable-names.ts', text: ' || name.startsWith(SETTING_PREFIX)',
    replacement: '', tests: EXPORT,
  },
  {
    file: 'webhooks/configuration/export-configuration.ts', text: 'isOnlyApplied && set === null',
    replacement: "isOnlyApplied && name === ''", tests: EXPORT,
  },
  {
    file: 'webhooks/configuration/export-configuration.ts', text: ' || readOnly !== undefined',
    replacement: '', tests: EXPORT,
  },
  {
    file: 'webhooks/configuration/configuration-handlers.ts',
    text: "createComparedVersion(etag), true) === 'not_modified'",
    replacement: "createComparedVersion(etag), true) !== 'failed'", tests: EXPORT,
  },
];
