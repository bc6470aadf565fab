/** Faults of the HTTP client. */
import type { PlantedFault } from './fault.ts';

const POLICY: readonly PlantedFault[] = [
  {
    file: 'client/http-client.ts',
    text: 'context === null ? origin : `${origin} ${context.poolKey}`', replacement: 'origin',
    tests: ['client/client-certificate.test.ts'],
  },
  {
    file: 'client/connection/connect.ts',
    text: 'this.#sessions.proxy, secureContext)',
    replacement: 'this.#sessions.proxy, this.#options.targetContext ?? secureContext)',
    tests: ['client/client-certificate.test.ts'],
  },
  {
    file: 'client/connection/resolve.ts',
    text: 'addresses : addresses.filter((address) => !denyList.isDenied(address));',
    replacement: 'addresses : addresses;',
    tests: ['client/connection/dial.test.ts'],
  },
  {
    file: 'client/http-client.ts',
    text: 'if (target.destination.isDenied) throw deniedError();', replacement: '',
    tests: ['client/connection/connect.test.ts'],
  },
  {
    file: 'client/policy/request-target.ts',
    text: '...isAbsoluteForm ? proxyHeaders(destination.proxy) : [],',
    replacement: '...proxyHeaders(destination.proxy),',
    tests: ['client/connection/tunnel.test.ts'],
  },
  {
    file: 'client/policy/proxy.ts',
    text: 'if (rule.port !== null && rule.port !== port) return false;', replacement: '',
    tests: ['client/policy/proxy.test.ts'],
  },
  {
    file: 'client/policy/retry.ts',
    text: 'if (attempts > policy.retries) return null;', replacement: '',
    tests: ['client/policy/retry.test.ts'],
  },
  {
    file: 'client/policy/retry.ts',
    text: 'Math.max(policy.delayMs, retryAfterMs ?? 0)', replacement: 'policy.delayMs',
    tests: ['client/policy/retry.test.ts'],
  },
  {
    file: 'client/request-encoding.ts',
    text: 'if (CONNECTION_HEADERS.has(lower)) {', replacement: 'if (lower === \'host\') {',
    tests: ['client/requests.test.ts'],
  },
];

const ATTEMPTS: readonly PlantedFault[] = [
  {
    file: 'client/http-call.ts', text: 'this.#retryTimer.cancel();', replacement: '',
    tests: ['client/abandon.test.ts'],
  },
  {
    file: 'client/http-call.ts', text: 'Math.min(timeoutMs, leftMs)', replacement: 'timeoutMs',
    tests: ['client/retries.test.ts'],
  },
  {
    file: 'client/http-attempt.ts',
    text: 'connection.isReused && !connection.hasReceived', replacement: 'connection.isReused',
    tests: ['client/connection/pool.test.ts'],
  },
  {
    file: 'client/http-attempt.ts',
    text: 'if (collector.length <= RESPONSE_BYTES_MAX) return;\n', replacement: 'return;\n',
    tests: ['client/requests.test.ts'],
  },
  {
    file: 'client/http-attempt.ts',
    text: 'if (interimCount > INTERIM_MAX) ', replacement: 'if (interimCount < 0) ',
    tests: ['client/requests.test.ts', 'client/deadlines.test.ts'],
  },
];

const CONNECTIONS: readonly PlantedFault[] = [
  {
    file: 'client/connection/tls.ts',
    text: 'slot.session = null;', replacement: '',
    tests: ['client/connection/tls.test.ts'],
  },
  {
    file: 'client/connection/tls.ts',
    text: 'rejectUnauthorized: tls.verifiesCertificates', replacement: 'rejectUnauthorized: false',
    tests: ['client/connection/connect.test.ts'],
  },
  {
    file: 'client/connection/connect.ts',
    text: 'statusCode < 200 || statusCode > 299', replacement: 'statusCode < 200',
    tests: ['client/connection/tunnel.test.ts'],
  },
  {
    file: 'client/connection/pool.ts',
    text: 'if (this.#size < this.#options.socketsMax) this.#connectFor(waiter);',
    replacement: 'if (this.#size >= 0) this.#connectFor(waiter);',
    tests: ['client/connection/pool.test.ts'],
  },
  {
    file: 'client/connection/pool.ts',
    text: 'this.#queue.size < WAITING_MAX', replacement: 'this.#queue.size >= 0',
    tests: ['client/connection/pool.test.ts'],
  },
  {
    file: 'client/connection/pooled-socket.ts',
    text: 'the next one.\n      if (!this.#isExpectingResponse) this.discard();',
    replacement: 'the next one.',
    tests: ['client/connection/pool.test.ts'],
  },
  {
    file: 'client/connection/pooled-socket.ts',
    text: '\n      && nowMs - this.#idleSinceMs < this.#keepAliveMs', replacement: '',
    tests: ['client/connection/pool.test.ts'],
  },
];

export const CLIENT_FAULTS: readonly PlantedFault[] = [...POLICY, ...ATTEMPTS, ...CONNECTIONS];
