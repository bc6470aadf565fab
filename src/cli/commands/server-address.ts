/** The address at which other machines reach the server. */
import type { CommandContext } from './command-context.ts';
import { expectObject, fetchObject, formatValue } from './resource-commands.ts';

export async function fetchBaseUri(context: CommandContext): Promise<string> {
  const { server } = await fetchObject(context, '/api/status');
  return formatValue(expectObject(server)['baseUri']);
}

/** Prints a note when the URL is one that other machines cannot reach. */
export function noteLocalUrl({ output }: CommandContext, url: string): void {
  const { origin } = new URL(url);
  const isLocal =
    /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1?\]|0\.0\.0\.0)(:\d+)?$/.test(origin);
  if (!isLocal) return;
  output.note(`URLs begin with ${origin}, which other machines cannot reach: see server.baseUri`);
}
