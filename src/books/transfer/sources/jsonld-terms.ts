/**
 * What the names of a JSON-LD node mean in schema.org, by its contexts (JSON-LD 1.1 §3.1, §4.1). No
 * context is fetched: one that is named by its URL is taken for schema.org's, and names that no
 * context defines are schema.org's too, unless `@vocab` says that they are another's.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonValue } from '../../../base/schema.ts';

const SCHEMA_ORG = 'https://schema.org/';
const SCHEMA_ORG_NAME = /^https?:\/\/(?:www\.)?schema\.org\/([^/#?]+)$/;
const SCHEMA_ORG_VOCABULARY = /^https?:\/\/(?:www\.)?schema\.org[/#]?$/;

// A term may be defined by another one, and that by a third.
const DEFINITION_DEPTH_MAX = 8;

export class ContextTerms {
  /** Null: the name is to be ignored. */
  readonly #definitions: ReadonlyMap<string, string | null>;
  /** What stands before a name that is not defined. */
  readonly #vocabulary: string;

  private constructor(definitions: ReadonlyMap<string, string | null>, vocabulary: string) {
    this.#definitions = definitions;
    this.#vocabulary = vocabulary;
  }

  static readonly schemaOrg: ContextTerms = new ContextTerms(new Map([
    ['schema', SCHEMA_ORG], ['type', '@type'], ['id', '@id'],
  ]), SCHEMA_ORG);

  /** These terms as a further context changes them: a URL, an object, null, or several of them. */
  with(context: JsonValue | undefined): ContextTerms {
    if (context === null) return ContextTerms.schemaOrg;
    if (Array.isArray(context)) {
      return context.reduce<ContextTerms>((terms, item: JsonValue) => terms.with(item), this);
    }
    if (!isJsonObject(context)) return this;
    const definitions = new Map(this.#definitions);
    for (const [term, definition] of Object.entries(context)) {
      if (term.startsWith('@')) continue;
      const id = isJsonObject(definition) ? definition['@id'] : definition;
      // A definition without `@id` says something else of a name, which stays what it is.
      if (typeof id === 'string' || id === null) definitions.set(term, id);
    }
    const { '@vocab': vocabulary } = context;
    return new ContextTerms(definitions,
      typeof vocabulary === 'string' ? this.#readVocabulary(vocabulary) : this.#vocabulary);
  }

  #readVocabulary(text: string): string {
    const vocabulary = this.expand(text) ?? text;
    return SCHEMA_ORG_VOCABULARY.test(vocabulary) ? SCHEMA_ORG : vocabulary;
  }

  /** The name that schema.org has for it, or a keyword, `@id`; null where it is another's. */
  resolve(name: string): string | null {
    if (name.startsWith('@')) return name;
    const iri = this.expand(name);
    if (iri === null) return null;
    if (iri.startsWith('@')) return iri;
    return SCHEMA_ORG_NAME.exec(iri)?.[1] ?? null;
  }

  /** The absolute name; null where a context says to ignore it. */
  expand(name: string, depth = 0): string | null {
    if (depth > DEFINITION_DEPTH_MAX) return null;
    const definition = this.#definitions.get(name);
    if (definition === null) return null;
    if (definition !== undefined && definition !== name) return this.expand(definition, depth + 1);
    const colon = name.indexOf(':');
    if (colon < 0) return name.startsWith('@') ? name : this.#vocabulary + name;
    const prefix = this.#definitions.get(name.slice(0, colon));
    const rest = name.slice(colon + 1);
    if (prefix === undefined || prefix === null || rest.startsWith('//')) return name;
    return withSlash(this.expand(prefix, depth + 1) ?? prefix) + rest;
  }
}

// `"schema": "https://schema.org"` lacks its slash in many files.
function withSlash(iri: string): string {
  return SCHEMA_ORG_VOCABULARY.test(iri) ? SCHEMA_ORG : iri;
}
