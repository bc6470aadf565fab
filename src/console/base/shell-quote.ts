/** Quotes a text as one word of a POSIX shell, for lines to copy. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}
