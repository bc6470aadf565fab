/** One POSIX shell word that stands for exactly `text`. */
export function shellQuote(text: string): string {
  return /^[A-Z]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same for a path, which stays as it is where that is no risk. */
export function quotePath(path: string): string {
  return /^[\w./,:@%+-]+$/.test(path) ? path : shellQuote(path);
}
