/** What absolute URLs in a command's output begin with. */
import type { CommandContext } from './command.ts';

/** `server.baseUri`, else derived from the port, which a note says. */
export function baseUriOf(context: CommandContext): string {
  const { server } = context.loadSettings().settings;
  if (server.baseUri !== null) return server.baseUri;
  const derived = `${server.tlsCert === null ? 'http' : 'https'}://localhost:${server.port}`;
  context.output.note(`server.baseUri is not set; URLs begin with ${derived}`);
  return derived;
}
