/**
 * The meaning of a JSON-LD node's names in schema.org, by its contexts (JSON-LD 1.1 §3.1, §4.1). No
 * context is fetched. Names that no context defines are schema.org's, unless `@vocab` says that
 * they are another's; if a context is schema.org's own, its terms are, whatever `@vocab` says.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { SCHEMA_ORG_TERMS } from './schema-org.ts';

const SCHEMA_ORG = 'https://schema.org/';
const SCHEMA_ORG_NAME = /^https?:\/\/(?:www\.)?schema\.org\/([^/#?]+)$/;
const SCHEMA_ORG_VOCABULARY = /^https?:\/\/(?:www\.)?schema\.org[/#]?$/;
/** The addresses of its context: the vocabulary's own, or a document of the site. */
const SCHEMA_ORG_CONTEXT = /^https?:\/\/(?:www\.)?schema\.org(?:[/#]|$)/;

// A term may be defined by another one, and that by a third.
const DEFINITION_DEPTH_MAX = 8;
/** How many contexts may stand in each other: a name is looked for in each. More are not read. */
const CONTEXT_DEPTH_MAX = 64;
/** No name of schema.org is as long: longer ones are cut, so that no name becomes a megabyte. */
const IRI_LENGTH_MAX = 2000;

/** The absolute names of terms; null: the name is to be ignored. */
type Definitions = ReadonlyMap<string, string | null>;

const KEYWORD_DEFINITIONS: Definitions =
  new Map([['schema', SCHEMA_ORG], ['type', '@type'], ['id', '@id']]);
const SCHEMA_ORG_DEFINITIONS: Definitions = new Map([
  ...KEYWORD_DEFINITIONS,
  ...[...SCHEMA_ORG_TERMS].map((term) => [term, SCHEMA_ORG + term] as const),
]);

/**
 * The terms that one context after another defines. Each is a layer over those before it, which are
 * shared: a node costs what its own context has, however long the file's is.
 */
export class ContextTerms {
  readonly #outer: ContextTerms | null;
  readonly #definitions: Definitions;
  /** The prefix of a name that is not defined; null: such a name is to be ignored. */
  readonly #vocabulary: string | null;
  readonly #depth: number;

  private constructor(
    outer: ContextTerms | null, definitions: Definitions, vocabulary: string | null,
  ) {
    this.#outer = outer;
    this.#definitions = definitions;
    this.#vocabulary = vocabulary;
    this.#depth = outer === null ? 0 : outer.#depth + 1;
  }

  static readonly schemaOrg: ContextTerms =
    new ContextTerms(null, KEYWORD_DEFINITIONS, SCHEMA_ORG);

  /** These terms as a further context changes them: a URL, an object, null, or several of them. */
  with(context: JsonValue | undefined): ContextTerms {
    let terms: ContextTerms = this;
    // Objects that follow each other in a list are one layer, over what is before them.
    let outer: ContextTerms = this;
    let definitions = new Map<string, string | null>();
    for (const item of listContexts(context)) {
      if (terms.#depth === CONTEXT_DEPTH_MAX) break;
      if (isJsonObject(item)) {
        const vocabulary = terms.#findVocabulary(item['@vocab']);
        addDefinitions(definitions, item);
        terms = new ContextTerms(outer, definitions, vocabulary);
      } else if (item === null || isSchemaOrgContext(item)) {
        terms = item === null ? ContextTerms.schemaOrg
          : new ContextTerms(terms, SCHEMA_ORG_DEFINITIONS, SCHEMA_ORG);
        outer = terms;
        definitions = new Map();
      }
    }
    return terms;
  }

  #findVocabulary(value: JsonValue | undefined): string | null {
    if (value === null) return null;
    if (typeof value !== 'string') return this.#vocabulary;
    const text = value.slice(0, IRI_LENGTH_MAX);
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
    let terms: ContextTerms | null = this;
    while (terms !== null) {
      const definition = terms.#definitions.get(name);
      if (definition !== undefined) return definition;
      terms = terms.#outer;
    }
    return undefined;
  }
}

/** A context, or those of lists of them, in their order. */
function listContexts(context: JsonValue | undefined): readonly JsonValue[] {
  if (context === undefined) return [];
  return Array.isArray(context)
    ? context.flatMap((item: JsonValue) => listContexts(item)) : [context];
}

function isSchemaOrgContext(context: JsonValue): boolean {
  return typeof context === 'string' && SCHEMA_ORG_CONTEXT.test(context);
}

function addDefinitions(definitions: Map<string, string | null>, context: JsonObject): void {
  for (const [term, definition] of Object.entries(context)) {
    if (term.startsWith('@')) continue;
    const id = isJsonObject(definition) ? definition['@id'] : definition;
    // A definition without `@id` says something else of a name, which stays what it is.
    if (typeof id === 'string') definitions.set(term, id.slice(0, IRI_LENGTH_MAX));
    else if (id === null) definitions.set(term, null);
  }
}

// `"schema": "https://schema.org"` lacks its slash in many files.
function withSlash(iri: string): string {
  return SCHEMA_ORG_VOCABULARY.test(iri) ? SCHEMA_ORG : iri;
}
