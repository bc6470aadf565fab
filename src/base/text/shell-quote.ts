/** One POSIX shell word that stands for exactly `text`. */
export function shellQuote(text: string): string {
  return /^[A-Z]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
