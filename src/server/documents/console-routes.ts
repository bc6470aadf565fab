/**
 * The console. `GET /console`: one page, the same for everybody, with its style and its first
 * script in it. `GET /console/{script}`: the other scripts, whose names change with their texts and
 * stand in the page; it fetches them as text and runs them within itself. A
 * browser that goes to another name is led to the screen of that name. The files are read at the
 * first request, and compressed once for each encoding.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { prefersHtml } from '../operations-routes.ts';
import { problemResponses } from '../problem.ts';
import type { Exchange, HeaderList, HttpRoute } from '../http-route.ts';
import { applyLook, type ConsoleLook } from './console-look.ts';

type ContentEncoding = 'br' | 'gzip' | 'identity';

type ConsoleFile = {
  readonly body: Buffer;
  /** A hash of the body, the same for each encoding. */
  readonly tag: string;
  readonly headers: HeaderList;
  readonly encodedBodies: Map<ContentEncoding, Buffer>;
};

type Console = {
  readonly page: ConsoleFile;
  /** By the name by which the page asks for the script. */
  readonly scripts: ReadonlyMap<string, ConsoleFile>;
};

// Measured: 3 ms for 36 kB of 108; quality 9 takes 18 ms for 0.2 kB less.
const BROTLI_QUALITY = 6;

const ENCODERS: Readonly<Record<ContentEncoding, (page: Buffer) => Buffer>> = {
  br: (page) => brotliCompressSync(page, {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  }),
  gzip: (page) => gzipSync(page),
  identity: (page) => page,
};

/** `readFile` reads one of the files that the build makes. */
export function consoleRoutes(
  readFile: (name: string) => string, look: ConsoleLook,
): readonly HttpRoute[] {
  let consoleFiles: Console | null = null;
  const load = (): Console => {
    consoleFiles ??= createConsole(readFile, look);
    return consoleFiles;
  };
  return [
    {
      method: 'GET',
      path: '/console',
      operationId: 'getConsole',
      summary: 'The whole service in a browser; the page is empty until the API gives it data',
      access: 'public',
      responses: [
        {
          status: 200, description: 'The page', mediaType: 'text/html', schema: { kind: 'string' },
        },
        { status: 304, description: 'Not changed since' },
        ...problemResponses(503),
      ],
      handle: (exchange) => sendFile(exchange, load().page),
    },
    {
      method: 'GET',
      path: '/console/{script}',
      operationId: 'getConsoleScript',
      summary: 'A part of the console that its page fetches when it needs it',
      access: 'public',
      responses: [
        {
          status: 200, description: 'The script', mediaType: 'text/javascript',
          schema: { kind: 'string' },
        },
        {
          status: 302, headers: { Location: 'The screen of that name' },
          description: 'For a caller that prefers HTML, where no script has the name',
        },
        { status: 304, description: 'Not changed since' },
        ...problemResponses(404, 503),
      ],
      handle(exchange) {
        const [name = ''] = exchange.params;
        const script = load().scripts.get(name);
        // Typed by somebody: the names of screens stand behind a `#`.
        if (script === undefined && prefersHtml(exchange.request.headers.accept)) {
          return exchange.send(302, ['Location', `../console#/${encodeURIComponent(name)}`]);
        }
        if (script === undefined) {
          throw new AppError('not_found',
            'the page is of another release than the server: load it anew');
        }
        sendFile(exchange, script);
      },
    },
  ];
}

function sendFile(
  exchange: Exchange, { body, tag: fileTag, headers, encodedBodies }: ConsoleFile,
): void {
  const requestHeaders = exchange.request.headers;
  const encoding = selectEncoding(requestHeaders);
  // Each encoding has a tag of its own (RFC 9110 §8.8.3).
  const tag = `"${fileTag}-${encoding}"`;
  const commonHeaders = ['ETag', tag, 'Cache-Control', 'no-cache', 'Vary', 'Accept-Encoding'];
  if (hasTag(requestHeaders, tag)) return exchange.send(304, commonHeaders);
  const encodedBody = encodedBodies.get(encoding) ?? ENCODERS[encoding](body);
  encodedBodies.set(encoding, encodedBody);
  exchange.send(200, [
    ...commonHeaders, ...headers,
    ...encoding === 'identity' ? [] : ['Content-Encoding', encoding],
  ], encodedBody);
}

function createConsole(readFile: (name: string) => string, look: ConsoleLook): Console {
  const page = applyLook(readFile('page.html'), look);
  const names = /data-scripts="([^"]*)"/.exec(page)?.[1]?.split(' ') ?? [];
  const scripts = new Map(names.map((name) => [name, readFile(name)]));
  return {
    page: createFile(page, [
      'Content-Type', 'text/html; charset=utf-8',
      'Content-Security-Policy', createPolicy(page, [...scripts.values()], look),
      'Referrer-Policy', 'no-referrer', 'Cross-Origin-Opener-Policy', 'same-origin',
    ]),
    scripts: new Map([...scripts].map(([name, script]) =>
      [name, createFile(script, ['Content-Type', 'text/javascript; charset=utf-8'])])),
  };
}

function createFile(text: string, headers: HeaderList): ConsoleFile {
  const body = Buffer.from(text);
  const tag = computeHash(body, 'base64url').slice(0, 22);
  return { body, tag, headers, encodedBodies: new Map() };
}

/**
 * Allows the page's own style and scripts alone, by their hashes, and calls to our API alone; also
 * images from elsewhere where the operator has allowed them. The scripts that are fetched run in
 * the page, so that no address needs to be allowed for them.
 */
function createPolicy(
  page: string, fetchedScripts: readonly string[], { images }: ConsoleLook,
): string {
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, script = '']) => script);
  const scriptHashes = [...scripts, ...fetchedScripts]
    .map((script) => `'sha256-${computeHash(script)}'`);
  return `default-src 'none'; script-src ${scriptHashes.join(' ')}; `
    + `style-src 'sha256-${computeHash(style)}'; connect-src 'self'; `
    + `img-src 'self'${images ? ' http: https:' : ''}; `
    + 'base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\'';
}

function computeHash(
  content: string | Buffer, encoding: 'base64' | 'base64url' = 'base64',
): string {
  return loadCrypto().createHash('sha256').update(content).digest(encoding);
}

/** The encoding with the smallest result that the caller accepts (RFC 9110 §12.5.3). */
function selectEncoding(
  { 'accept-encoding': acceptEncoding = '' }: IncomingHttpHeaders,
): ContentEncoding {
  const names = String(acceptEncoding).toLowerCase().split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';')[0]?.trim());
  if (names.includes('br')) return 'br';
  return names.includes('gzip') ? 'gzip' : 'identity';
}

function hasTag({ 'if-none-match': ifNoneMatch }: IncomingHttpHeaders, tag: string): boolean {
  return ifNoneMatch !== undefined
    && ifNoneMatch.split(',').some((one) => ['*', tag, `W/${tag}`].includes(one.trim()));
}
