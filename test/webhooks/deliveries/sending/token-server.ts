/** An OAuth 2 token server, and a target that takes its tokens. */
import {
  answer, startServer, type Received, type ScriptedServer,
} from '../../../support/servers.ts';

export type TokenServer = {
  readonly server: ScriptedServer;
  readonly url: string;
  /** What is answered to the next requests; then tokens again. */
  readonly plan: ((received: Received) => void)[];
  /** The tokens that were given, in order. */
  readonly tokens: string[];
  /** Members of the answers beside the token. */
  members: object;
  close(): Promise<void>;
};

/** Gives `planted-token/<n>+x==`, a new one each time. */
export async function startTokenServer(): Promise<TokenServer> {
  const tokens: string[] = [];
  const plan: TokenServer['plan'] = [];
  const server = await startServer({
    onRequest(received) {
      const step = plan.shift();
      if (step !== undefined) return step(received);
      const token = `planted-token/${tokens.length + 1}+x==`;
      tokens.push(token);
      respond(received, 200, { access_token: token, token_type: 'Bearer', ...handle.members });
    },
  });
  const handle: TokenServer = {
    server, url: server.url('/token'), plan, tokens, members: { expires_in: 3600 },
    close: () => server.close(),
  };
  return handle;
}

export function respond({ socket }: Received, statusCode: number, body: unknown): void {
  socket.write(answer(statusCode, typeof body === 'string' ? body : JSON.stringify(body)));
}

/** The value of a header of a request; undefined without it. */
export function headerOf({ head }: Received, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim();
}

/** Takes the tokens of `valid` and answers 401 to others; each answer repeats the header. */
export async function startProtectedTarget(valid: ReadonlySet<string>): Promise<ScriptedServer> {
  return startServer({
    onRequest(received) {
      const header = headerOf(received, 'authorization') ?? '';
      const isValid = valid.has(header.replace(/^Bearer /, ''));
      respond(received, isValid ? 200 : 401, { echo: header, php: header.replaceAll('/', '\\/') });
    },
  });
}
