/** Command lines to copy, for a POSIX shell. */

/** Quotes a text as one word of the shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}

/** The line that runs a command of hookshelf with options: `formatCommand('log', { level })`. */
export function formatCommand(command: string, options: Readonly<Record<string, string>>): string {
  const words = Object.entries(options).map(([name, value]) => ` --${name} ${shellQuote(value)}`);
  return `hookshelf ${command}${words.join('')}`;
}
