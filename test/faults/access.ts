/** Faults of access: tokens, scopes, guard, CORS, the host check and the client's address. */
import type { PlantedFault } from './fault.ts';

const TOKENS = ['access/tokens.test.ts'];
const TOKENS_SERVED = ['e2e/tokens.test.ts'];
const GUARD = ['access/guard.test.ts'];
const CLIENT_ADDRESS = ['server/exchange/client-address.test.ts'];

export const ACCESS_FAULTS: readonly PlantedFault[] = [
  // A token that has ended, or that nobody may read.
  {
    file: 'access/tokens.ts', text: 'if (!isUsable(token, nowMs)) return null;', replacement: '',
    tests: TOKENS,
  },
  {
    file: 'access/tokens.ts',
    text: 'if (previous?.hash !== undefined) this.#byHash.delete(previous.hash);', replacement: '',
    tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: '...hash === undefined ? {} : { hash } };',
    replacement: 'hash: token.hash };', tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: '.filter((token) => token.isConfigured !== true)',
    replacement: '', tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: 'nowMs - lastUsedMs < LAST_USE_EVERY_MS',
    replacement: 'nowMs < lastUsedMs', tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: 'if (this.#hasExisted()) return;', replacement: '',
    tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: '.size >= TOKENS_MAX', replacement: '.size > TOKENS_MAX',
    tests: TOKENS,
  },
  {
    file: 'access/token.ts', text: 'const { hash: _, ...view } = token;',
    replacement: 'const view = token;', tests: TOKENS,
  },
  {
    file: 'access/token.ts', text: 'ms === null || ms <= nowMs', replacement: 'ms === null',
    tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: 'isOpenWhenUnused ? this.hasUsableToken : this.#hasExisted()',
    replacement: 'this.hasUsableToken', tests: TOKENS,
  },
  {
    file: 'access/tokens.ts', text: 'const { hash: _, ...token } = previousToken;',
    replacement: 'const token = previousToken;', tests: TOKENS,
  },
  {
    file: 'access/token.ts', text: 'Date.parse(expiresAt) > nowMs',
    replacement: 'Date.parse(expiresAt) >= nowMs', tests: TOKENS,
  },
  // A caller who comes in with too little, or is refused wrongly.
  {
    file: 'access/token-verifier.ts', text: 'if (!includesScope(grant.scope, requiredScope)) {',
    replacement: "if (!includesScope('admin', requiredScope)) {", tests: GUARD,
  },
  {
    file: 'access/token-verifier.ts', text: 'if (!/^bearer /i.test(',
    replacement: 'if (!/^Bearer /.test(', tests: GUARD,
  },
  {
    file: 'access/token-verifier.ts', text: 'verifiers.some((verifier) => verifier.isRequired)',
    replacement: 'verifiers.every((verifier) => verifier.isRequired)', tests: GUARD,
  },
  {
    file: 'access/token-verifier.ts',
    text: 'isMatch = timingSafeEqual(expectedDigest, digest) || isMatch;',
    replacement: 'isMatch = timingSafeEqual(expectedDigest, digest);', tests: GUARD,
  },
  {
    file: 'access/token-verifier.ts', text: 'isControl || !verifier.isRequired',
    replacement: '!verifier.isRequired', tests: GUARD,
  },
  {
    file: 'access/guard.ts', text: "if (exchange.isControl) return 'admitted';",
    replacement: '',
    tests: GUARD,
  },
  {
    file: 'access/guard.ts', text: "corsOrigins.includes('*') && !tokens.isRequired",
    replacement: "corsOrigins[0] === '**' && !tokens.isRequired", tests: GUARD,
  },
  {
    file: 'access/guard.ts', text: 'if (!hasRoute && isPreflight(request)) {',
    replacement: 'if (hasRoute && isPreflight(request)) {', tests: GUARD,
  },
  {
    file: 'access/scope.ts', text: 'INCLUDED_SCOPES[grantedScope].includes(requiredScope)',
    replacement: 'grantedScope === requiredScope', tests: GUARD,
  },
  {
    file: 'access/scope.ts', text: "emit: ['emit'],", replacement: "emit: ['emit', 'read'],",
    tests: TOKENS_SERVED,
  },
  {
    file: 'access/token.ts', text: "if (scope !== 'emit') {", replacement: 'if (false) {',
    tests: TOKENS,
  },
  {
    file: 'webhooks/deliveries/emit-routes.ts', text: 'checkEventGranted(exchange, name);',
    replacement: '', tests: TOKENS_SERVED,
  },
  {
    file: 'resources/change-log.ts', text: 'if (members?.length === 0) return;', replacement: '',
    tests: TOKENS_SERVED,
  },
  {
    file: 'server/exchange/http-exchange.ts', text: 'this.grant?.name ?? CALLERS[this.entrance]',
    replacement: 'CALLERS[this.entrance]', tests: TOKENS_SERVED,
  },
  {
    file: 'access/guard.ts', text: "path === '/api' || path.startsWith('/api/') ? 'read'",
    replacement: "path === '/api' ? 'read'", tests: GUARD,
  },
  // A page of another origin, or a name that somebody has pointed at this machine.
  {
    file: 'access/guard.ts', text: "if (entrance !== 'embedded') checkHostCount(request);",
    replacement: '', tests: GUARD,
  },
  { file: 'access/guard.ts', text: 'hosts.check(request);', replacement: '', tests: GUARD },
  { file: 'access/guard.ts', text: 'cors.checkOrigin(request);', replacement: '', tests: GUARD },
  {
    file: 'access/guard.ts', text: "path.startsWith('/webhook/in/')",
    replacement: "path.startsWith('/')", tests: GUARD,
  },
  {
    file: 'access/cors.ts', text: '|| !origins.includes(origin)) return VARY;',
    replacement: ') return VARY;', tests: GUARD,
  },
  {
    file: 'access/cors.ts', text: 'const headers = isAllowed ? [',
    replacement: 'const headers = allow ? [',
    tests: GUARD,
  },
  {
    file: 'access/host-check.ts', text: "(count === 0 && request.httpVersion === '1.0')",
    replacement: 'count > 1', tests: GUARD,
  },
  {
    file: 'access/host-check.ts', text: "name.endsWith('.localhost')",
    replacement: "name.endsWith('localhost')", tests: GUARD,
  },
  {
    file: 'access/host-check.ts', text: "(isIP(plain) === 4 && plain.startsWith('127.'))",
    replacement: "plain.startsWith('127.')", tests: GUARD,
  },
  {
    file: 'server/routing/request-target.ts',
    text: "url.startsWith('/') ? headers.host : ABSOLUTE_FORM.exec(url)?.[1] ?? headers.host",
    replacement: 'headers.host', tests: GUARD,
  },
  {
    file: 'access/host-check.ts', text: "host.slice(host.lastIndexOf('@') + 1)",
    replacement: 'host', tests: GUARD,
  },
  {
    file: 'access/cors.ts', text: 'isTokenRequired ? this.#allowedOrigins : this.#namedOrigins',
    replacement: 'this.#allowedOrigins', tests: GUARD,
  },
  // An address that the client has made up.
  {
    file: 'server/exchange/client-address.ts', text: 'if (address === null) break;',
    replacement: 'if (address === null) continue;', tests: CLIENT_ADDRESS,
  },
  {
    file: 'server/exchange/client-address.ts', text: "address === '' ? trustProxy === true",
    replacement: "address === '' ? true", tests: CLIENT_ADDRESS,
  },
];
