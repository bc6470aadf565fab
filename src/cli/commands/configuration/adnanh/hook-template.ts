/**
 * Templates of Go in a hooks file, which adnanh/webhook runs when it is started with `-template`.
 * We read templates that name a variable of the environment, `{{ getenv "KEY" | js }}`, or a file
 * of Docker's secrets, `{{ secret "key" }}`.
 */

/**
 * A template on one line, for a match at a place. Its texts in quotation marks stand apart from its
 * words: `{{", "a": "}}` is none.
 */
export const TEMPLATE =
  /\{\{-?\s*[\w.$(](?:[^"{}\\\n]|(?<=[\s(])"[^"{}\\\n]*"(?=[\s)|}]))*\}\}/y;

const VARIABLE = /\{\{-?\s*getenv\s+['"`]([\w.-]+)['"`]\s*(?:\|\s*js\s*)?-?\}\}/g;
const SECRET = /^\{\{-?\s*(getenv|secret)\s+['"`]([\w.-]+)['"`]\s*(?:\|\s*js\s*)?-?\}\}$/;

/** Whether a text has a template, of any kind; braces that are not closed are text. */
export function hasTemplate(text: string): boolean {
  const start = text.indexOf('{{');
  return start !== -1 && text.includes('}}', start + '{{'.length);
}

/** A text that is one template and nothing else; null: it is something else. */
export function parseSecretTemplate(
  text: string,
): { readonly source: 'getenv' | 'secret'; readonly name: string } | null {
  const [, source, name] = SECRET.exec(text) ?? [];
  if (name === undefined) return null;
  return { source: source === 'secret' ? 'secret' : 'getenv', name };
}

/** The text with the values of those variables that are set. */
export function fillVariables(
  text: string, environment: Readonly<Record<string, string | undefined>>,
): string {
  return text.replace(VARIABLE, (template: string, name: string) => environment[name] ?? template);
}
