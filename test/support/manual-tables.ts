/** The manual's tables of settings, commands and more, as the program itself has them. */
import {
  backupMetrics, buildMetrics, certificateMetric, clientMetrics, deliveryMetrics, followerMetrics,
  healthMetrics, incomingMetrics, indexMetrics, storeMetrics,
} from '../../src/app/service-metrics.ts';
import { createNodeMetrics } from '../../src/nodes/node-views.ts';
import type { MetricSource } from '../../src/server/metrics/metric-source.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { OptionSpec } from '../../src/cli/arguments/option-spec.ts';
import { BOUND_SCOPES } from '../../src/server/http-route.ts';
import { SETTING_ROWS } from '../../src/settings/setting-table.ts';
import {
  formatCoverage, describePresets,
} from '../../src/webhooks/senders/presets/describe-presets.ts';

/** Lines below the two of the head. */
export type TableRows = readonly string[];

export const TABLE_HEADS = {
  settings: '| setting | default | meaning |',
  commands: '| command | options | what it does |',
  endpoints: '| request | scope | what it does |',
  customers: '| scope | requests of a customer |',
  senders: '| preset | signature | covers | answer within | when it fails | where to paste |',
  metrics: '| metric | type | labels | what it is |',
} as const;

export function settingRows(): TableRows {
  return SETTING_ROWS.map(({ name, default: value, unit, description }) =>
    `| \`${name}\` | ${value === null ? 'none' : code(textOf(value))} `
    + `| ${unit === '' ? '' : `${unit}: `}${prose(description)} |`);
}

export function senderRows(): TableRows {
  return describePresets().map((preset) => {
    const { name, header, needs, answerWithinS, onFailure, toleranceS } = preset;
    const needed = needs.map((need) => `; needs ${code(need)}`).join('');
    const age = toleranceS === null ? '' : `; ${toleranceS} s`;
    const cells = [
      code(name),
      `${header.replaceAll('|', '\\|')}${needed}`,
      `${formatCoverage(preset)}${age}`,
      answerWithinS === null ? '' : `${answerWithinS} s`,
      `${onFailure ?? ''}${preset.unconfirmed === null ? '' : ' (?)'}`,
      `${preset.pasteUrl}. Secret: ${preset.pasteSecret}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

/** All metrics that a server may have. None is read, so that they need nothing to read from. */
export function listMetrics(): readonly MetricSource[] {
  const metrics = new Metrics();
  metrics.add(
    ...buildMetrics(), ...storeMetrics(nothing(), [], () => true),
    ...indexMetrics(nothing()), ...clientMetrics(nothing()), ...deliveryMetrics(nothing()),
    ...incomingMetrics(nothing()), ...healthMetrics(nothing()), ...followerMetrics(nothing()),
    ...backupMetrics(nothing()), certificateMetric(() => null), ...createNodeMetrics(nothing()),
  );
  try {
    return metrics.list();
  } finally {
    metrics.close();
  }
}

/** Has every member, which is again nothing. */
function nothing<T extends object>(): T {
  return new Proxy({}, { get: () => nothing() }) as T;
}

export function metricRows(): TableRows {
  return listMetrics().map(({ name, type, labels, help }) =>
    `| \`${name}\` | ${type} | ${labels.map(code).join(' ')} | ${prose(help)} |`);
}

// Angle brackets would be taken for tags.
function prose(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\S*<\S*>\S*?(?=[,;.]?(?:\s|$))/g, code);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value).replaceAll(',', ', ');
}

/** At least so many options in a row that an earlier command has, too, are not repeated. */
const SHARED_OPTIONS_MIN = 5;

export function commandRows(): TableRows {
  const earlier: { name: string; texts: readonly string[] }[] = [];
  return COMMANDS.map(({ name, options, operand, summary }) => {
    const words = operand === undefined ? []
      : [operand.isRequired ? `<${operand.name}>` : `[<${operand.name}>]`];
    const texts = Object.entries(options).map(([word, option]) => optionText(word, option));
    const groups: string[] = [];
    let own = words;
    for (let index = 0; index < texts.length;) {
      const shared = earlier.map((command) => ({
        name: command.name, count: countShared(texts.slice(index), command.texts),
      })).find(({ count }) => count >= SHARED_OPTIONS_MIN);
      const [first = '', last = ''] = [texts[index], texts[index + (shared?.count ?? 1) - 1]];
      if (shared === undefined) {
        own.push(first);
      } else {
        groups.push(code(own.join(' ')),
          `${code(optionName(first))} to ${code(optionName(last))} of ${code(shared.name)}`);
        own = [];
      }
      index += shared?.count ?? 1;
    }
    groups.push(code(own.join(' ')));
    earlier.push({ name, texts });
    return `| \`${name}\` | ${groups.filter((text) => text !== '').join(', ')} | ${summary} |`;
  });
}

/** How many of `texts`, from the first one on, stand beside each other in `others` as well. */
function countShared(texts: readonly string[], others: readonly string[]): number {
  const start = others.indexOf(texts[0] ?? '');
  if (start === -1) return 0;
  const end = texts.findIndex((text, index) => others[start + index] !== text);
  return end === -1 ? texts.length : end;
}

function optionName(text: string): string {
  return /--[\w-]+/.exec(text)?.[0] ?? text;
}

function optionText(name: string, option: OptionSpec): string {
  const value = option.type === 'string' ? ` ${option.placeholder}` : '';
  const text = `--${name}${value}`;
  return option.isRequired === true ? text : `[${text}]`;
}

function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``;
}

/** The endpoints for tokens that are bound to webhooks: a row for each scope. */
export function customerRows(paths: Paths): TableRows {
  const requests = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { description }]) => ({
      scope: /bound to webhooks: `(\w+)`/.exec(description ?? '')?.[1],
      request: code(`${method.toUpperCase()} ${path}`),
    })));
  return BOUND_SCOPES.map((name) => {
    const named = requests.filter(({ scope }) => scope === name);
    return `| \`${name}\` | ${named.map(({ request }) => request).join(', ')} |`;
  });
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;
type Operation = { readonly summary: string; readonly description?: string };

/** From the OpenAPI document, which is made from the table that serves. */
export function endpointRows(paths: Paths): TableRows {
  return Object.entries(paths).flatMap(([path, operations]) => {
    const methods = Object.entries(operations);
    const summaries = new Set(methods.map(([, { summary }]) => summary));
    const isAny = methods.length > 1 && summaries.size === 1;
    return methods.slice(0, isAny ? 1 : undefined).map(([method, { summary, description }]) => {
      const [, scope = ''] = /`(\w+)`/.exec(description ?? '') ?? [];
      const request = `${isAny ? 'any method' : method.toUpperCase()} ${path}`;
      return `| \`${request}\` | ${scope} | ${summary} |`;
    });
  });
}
