/** Renders schemas: the name of a type, its limits, its shape, and the table of a model. */
import type { DocumentView, SchemaView } from './document-view.ts';
import { readModelName, resolveSchema } from './document-view.ts';
import { toAnchor, escapeHtml, renderTable, renderText } from './html.ts';

/** Objects in an example that stand deeper are empty. */
const EXAMPLE_DEPTH_MAX = 4;

/** A type in one line, with links to models: `AuthorBody[] | null`. */
export function renderType(schema: SchemaView): string {
  const name = readModelName(schema);
  if (name !== undefined) {
    return `<a href="#schema-${toAnchor(name)}">${escapeHtml(name)}</a>`;
  }
  if (schema.enum !== undefined) {
    return schema.enum.map((value) =>
      `<span class="value">${escapeHtml(JSON.stringify(value))}</span>`).join(' | ');
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(renderType).join(' | ');
  if (schema.items !== undefined) return renderItems(schema.items);
  const { type = 'any JSON' } = schema;
  return escapeHtml(typeof type === 'string' ? type : type.join(' | '));
}

/** Whether the schema allows any JSON. */
export function isAnything({ $ref, type, enum: values, anyOf, items }: SchemaView): boolean {
  return [$ref, type, values, anyOf, items].every((part) => part === undefined);
}

function renderItems(items: SchemaView): string {
  const type = renderType(items);
  return type.includes(' | ') ? `(${type})[]` : `${type}[]`;
}

/** The limits of a value besides its type, such as `1–1000 characters`. */
function listLimits(schema: SchemaView): readonly string[] {
  const { minLength, maxLength, minimum, maximum, maxItems, items } = schema;
  const limits = [
    formatLengthRange(minLength, maxLength), formatRange(minimum, maximum),
    maxItems === undefined ? '' : `at most ${maxItems} items`,
    schema.uniqueItems === true ? 'no two alike' : '',
    schema.minProperties === undefined ? '' : 'not empty',
    schema.format ?? '',
    // The pattern `\S` (not blank) adds nothing for a reader.
    schema.pattern === undefined || schema.pattern === '\\S' ? '' : `\`${schema.pattern}\``,
    ...items === undefined ? [] : listLimits(items).map((limit) => `each ${limit}`),
    ...(schema.anyOf ?? []).flatMap(listLimits),
  ];
  return limits.filter((limit) => limit !== '');
}

/** `1–1000 characters`; empty where any length is allowed, as with a least length of 0. */
function formatLengthRange(least: number | undefined, most: number | undefined): string {
  if (most === undefined && least === 0) return '';
  if (most === undefined && least === 1) return 'not empty';
  const range = formatRange(least, most);
  return range === '' ? '' : `${range} characters`;
}

/** `0–9`, `at least 0` or `at most 9`; empty without limits. */
function formatRange(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least}–${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? '' : `at most ${most}`;
}

/**
 * The members of an object, or of the objects in an array, as JSON with a line for each; models are
 * links. Empty for other types. `isShown` selects the members.
 */
export function renderShape(
  schema: SchemaView, document: DocumentView,
  isShown: (member: SchemaView) => boolean = () => true,
): string {
  const resolvedSchema = resolveSchema(schema, document);
  if (resolvedSchema.items !== undefined) {
    const shape = renderShape(resolvedSchema.items, document, isShown);
    return shape === '' ? '' : `[${shape}, …]`;
  }
  const members = Object.entries(resolvedSchema.properties ?? {})
    .filter(([, member]) => isShown(member));
  if (members.length === 0) return '';
  const lines = members.map(([name, member]) => {
    const mark = resolvedSchema.required?.includes(name) === true ? '' : '?';
    return `  "${escapeHtml(name)}"${mark}: ${renderType(member)},`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

/** Every member of a model with its type and its rules. */
export function renderMembers(schema: SchemaView): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, member]) => [
    `<code>${escapeHtml(name)}</code>${
      schema.required?.includes(name) === true ? '<br><span class="note">required</span>' : ''}`,
    // A read-only member of any JSON is ignored in bodies: it has no type.
    member.readOnly === true && isAnything(member) ? '' : `<code>${renderType(member)}</code>`,
    renderRule(member, member.readOnly === true, member.writeOnly === true),
  ]);
  return renderTable(['member', 'type', 'rule'], rows);
}

/** Description and limits of a value. */
export function renderRule(schema: SchemaView, isReadOnly = false, isWriteOnly = false): string {
  const { description = schema.anyOf?.find((one) => one.description !== undefined)?.description }
    = schema;
  const notes = [
    ...listLimits(schema).map(renderText),
    ...isReadOnly ? ['read-only'] : [], ...isWriteOnly ? ['write-only'] : [],
  ];
  const text = description === undefined ? '' : renderText(description);
  const note = notes.length === 0 ? '' : `<span class="note">${notes.join(', ')}</span>`;
  return [text, note].filter((part) => part !== '').join('<br>');
}

/** An example value, which has the required members alone. Models may refer to each other. */
export function buildExample(schema: SchemaView, document: DocumentView, depth = 0): unknown {
  const resolvedSchema = resolveSchema(schema, document);
  if (resolvedSchema.enum !== undefined) return resolvedSchema.enum[0];
  if (isAnything(resolvedSchema)) return {};
  const { type: types } = resolvedSchema;
  const type = typeof types === 'string' ? types : types?.[0];
  if (type === 'object' && depth < EXAMPLE_DEPTH_MAX) {
    return Object.fromEntries((resolvedSchema.required ?? []).map((name) =>
      [name, buildExample(resolvedSchema.properties?.[name] ?? {}, document, depth + 1)]));
  }
  const samples: Readonly<Record<string, unknown>> = {
    array: [], object: {}, integer: resolvedSchema.minimum ?? 1, number: 1, boolean: true,
  };
  return samples[type ?? ''] ?? 'text';
}
