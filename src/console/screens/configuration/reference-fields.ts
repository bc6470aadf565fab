/** The fields for what a document leaves to its surroundings; variables are mostly secrets. */
import { parseJson } from '../../base/json-text.ts';
import { fill, h } from '../../base/dom.ts';
import { isMistake, locateJson } from '../../base/json-places.ts';
import { codeArea, inputField, type Field } from '../../parts/forms/input-field.ts';
import { listReferences, replaceReferences } from './document-references.ts';

/** A longer document is not parsed while it is typed: its fields are shown once it is sent. */
const TYPED_LENGTH_MAX = 1 << 20;

/** Fields for references. Their values stay while the document is edited, and are never stored. */
export class ReferenceFields {
  readonly element = h('div.record');
  readonly #fields = new Map<string, Field>();
  #shownFields: readonly Field[] = [];

  constructor() {
    this.element.hidden = true;
  }

  /** Shows the fields that a document needs; one that is no JSON needs none yet. */
  show(text: string): void {
    if (text.length > TYPED_LENGTH_MAX || isMistake(locateJson(text))) return;
    this.#showFieldsOf(parseJson(text));
  }

  /** The document with all values; null: one is missing, and its field says so. */
  fill(document: object): object | null {
    this.#showFieldsOf(document);
    const missing = listReferences(document).map(({ key }) => this.#fields.get(key))
      .filter((field) => field?.read() === undefined);
    for (const field of missing) field?.showError([], 'A value is missing here.');
    if (missing.length > 0) {
      this.element.querySelector<HTMLElement>('[aria-invalid]')?.focus();
      return null;
    }
    return Object(replaceReferences(document, ({ key }) => String(this.#fields.get(key)?.read())));
  }

  #showFieldsOf(document: unknown): void {
    const references = listReferences(document);
    for (const { kind, name, key } of references) {
      if (!this.#fields.has(key)) this.#fields.set(key, createReferenceField(kind, name));
    }
    const fields = references.flatMap(({ key }) => this.#fields.get(key) ?? []);
    // Fields that are there already are not replaced: the user may be typing into one.
    const isSame = fields.length === this.#shownFields.length
      && fields.every((field, index) => field === this.#shownFields[index]);
    if (isSame) return;
    this.#shownFields = fields;
    this.element.hidden = fields.length === 0;
    fill(this.element, h('fieldset', h('legend', 'What the document leaves open'),
      h('p.hint', 'They are put in here, before anything is sent.'),
      ...fields.map(({ element }) => element)));
  }
}

function createReferenceField(kind: '$env' | '$file', name: string): Field {
  const options = { name, label: name, isRequired: true };
  if (kind === '$env') {
    const input = h('input', { type: 'password', autocomplete: 'new-password' });
    return inputField({ ...options, schema: { description: 'The value of that variable' } }, input,
      () => input.value || undefined);
  }
  const area = codeArea(2);
  return inputField({ ...options, schema: { description: 'What that file holds' } }, area,
    // The last line break of a file is not a part of the value.
    () => area.value.replace(/\n$/, '') || undefined);
}
