/**
 * What the names of a JSON-LD node mean in schema.org, by its contexts (JSON-LD 1.1 §3.1, §4.1). No
 * context is fetched. Names that no context defines are schema.org's, unless `@vocab` says that
 * they are another's; where a context is schema.org's own, its terms are, whatever `@vocab` says.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { SCHEMA_ORG_TERMS } from './schema-org.ts';

const SCHEMA_ORG = 'https://schema.org/';
const SCHEMA_ORG_NAME = /^https?:\/\/(?:www\.)?schema\.org\/([^/#?]+)$/;
const SCHEMA_ORG_VOCABULARY = /^https?:\/\/(?:www\.)?schema\.org[/#]?$/;
/** Where its context is: at the vocabulary's own address, or as a document of the site. */
const SCHEMA_ORG_CONTEXT = /^https?:\/\/(?:www\.)?schema\.org(?:[/#]|$)/;

// A term may be defined by another one, and that by a third.
const DEFINITION_DEPTH_MAX = 8;
/** How many contexts may follow each other: a name is looked for in each. More are not read. */
const CONTEXT_COUNT_MAX = 32;

/** The absolute names of terms; null: the name is to be ignored. */
type Definitions = ReadonlyMap<string, string | null>;

const KEYWORD_DEFINITIONS: Definitions =
  new Map([['schema', SCHEMA_ORG], ['type', '@type'], ['id', '@id']]);
const SCHEMA_ORG_DEFINITIONS: Definitions = new Map([
  ...KEYWORD_DEFINITIONS,
  ...[...SCHEMA_ORG_TERMS].map((term) => [term, SCHEMA_ORG + term] as const),
]);

/** The terms of one context, and of those before it: none is copied, as a context may be large. */
export class ContextTerms {
  readonly #definitions: Definitions;
  /** What stands before a name that is not defined; null: such a name is to be ignored. */
  readonly #vocabulary: string | null;
  /** Those that this context changes. */
  readonly #outer: ContextTerms | null;
  readonly #count: number;

  private constructor(
    definitions: Definitions, vocabulary: string | null, outer: ContextTerms | null,
  ) {
    this.#definitions = definitions;
    this.#vocabulary = vocabulary;
    this.#outer = outer;
    this.#count = outer === null ? 0 : outer.#count + 1;
  }

  static readonly schemaOrg: ContextTerms =
    new ContextTerms(KEYWORD_DEFINITIONS, SCHEMA_ORG, null);

  /** These terms as a further context changes them: a URL, an object, null, or several of them. */
  with(context: JsonValue | undefined): ContextTerms {
    if (context === null) return ContextTerms.schemaOrg;
    if (Array.isArray(context)) {
      return context.reduce<ContextTerms>((terms, item: JsonValue) => terms.with(item), this);
    }
    if (this.#count === CONTEXT_COUNT_MAX) return this;
    if (typeof context === 'string' && SCHEMA_ORG_CONTEXT.test(context)) {
      return new ContextTerms(SCHEMA_ORG_DEFINITIONS, SCHEMA_ORG, this);
    }
    if (!isJsonObject(context)) return this;
    const definitions = new Map<string, string | null>();
    for (const [term, definition] of Object.entries(context)) {
      if (term.startsWith('@')) continue;
      const id = isJsonObject(definition) ? definition['@id'] : definition;
      // A definition without `@id` says something else of a name, which stays what it is.
      if (typeof id === 'string' || id === null) definitions.set(term, id);
    }
    return new ContextTerms(definitions, this.#readVocabulary(context['@vocab']), this);
  }

  #readVocabulary(value: JsonValue | undefined): string | null {
    if (value === null) return null;
    if (typeof value !== 'string') return this.#vocabulary;
    const vocabulary = this.expand(value) ?? value;
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
    const definition = this.#findDefinition(name);
    if (definition === null) return null;
    if (definition !== undefined && definition !== name) return this.expand(definition, depth + 1);
    if (name.startsWith('@')) return name;
    const colon = name.indexOf(':');
    if (colon < 0) return this.#vocabulary === null ? null : this.#vocabulary + name;
    const prefix = this.#findDefinition(name.slice(0, colon));
    const rest = name.slice(colon + 1);
    if (prefix === undefined || prefix === null || rest.startsWith('//')) return name;
    return withSlash(this.expand(prefix, depth + 1) ?? prefix) + rest;
  }

  #findDefinition(name: string): string | null | undefined {
    const definition = this.#definitions.get(name);
    if (definition !== undefined || this.#outer === null) return definition;
    return this.#outer.#findDefinition(name);
  }
}

// `"schema": "https://schema.org"` lacks its slash in many files.
function withSlash(iri: string): string {
  return SCHEMA_ORG_VOCABULARY.test(iri) ? SCHEMA_ORG : iri;
}
