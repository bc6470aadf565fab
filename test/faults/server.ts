/** Faults of the server, the stream and monitoring. */
import type { PlantedFault } from './fault.ts';

const ACTIVATED_SOCKETS = ['server/listening/activated-sockets.test.ts'];

export const SERVER_FAULTS: readonly PlantedFault[] = [
  // server/
  {
    file: 'server/body-budget.ts', text: 'this.#pendingBodies.delete(body);\n    this.#pending',
    replacement: 'this.#pending', tests: ['server/body-budget.test.ts'],
  },
  {
    file: 'server/body-budget.ts', text: 'Math.max(bodyBytesMax, bytesMax)',
    replacement: 'bytesMax', tests: ['server/body-budget.test.ts'],
  },
  {
    file: 'server/documents/console-routes.ts', text: '[...scripts, secondScript]',
    replacement: 'scripts', tests: ['e2e/console-routes.test.ts'],
  },
  {
    file: 'server/documents/console-routes.ts', text: 'exchange.params[0] !== scriptName',
    replacement: 'exchange.params[0] === undefined', tests: ['e2e/console-routes.test.ts'],
  },
  {
    file: 'server/query.ts', text: 'if (values.has(name))', replacement: 'if (value === name)',
    tests: ['resources/resource-routes.test.ts', 'server/routing/query.test.ts'],
  },
  {
    file: 'server/query.ts', text: "text.replaceAll('+', ' ')", replacement: 'text',
    tests: ['server/routing/query.test.ts'],
  },
  {
    file: 'server/problem.ts', text: "isAppError && code !== 'internal'",
    replacement: 'thrown instanceof Error', tests: ['server/exchange/http-exchange.test.ts'],
  },
  {
    file: 'server/problem.ts', text: "headers.push('Retry-After'",
    replacement: "headers.concat('Retry-After'",
    tests: ['server/exchange/http-exchange.test.ts'],
  },
  {
    file: 'server/routing/router.ts', text: 'params.length = count - 1;', replacement: '',
    tests: ['server/routing/router.test.ts'],
  },
  {
    file: 'server/routing/router.ts', text: 'UNRESERVED.test(character) ? character : encoded',
    replacement: 'character', tests: ['server/routing/router.test.ts'],
  },
  {
    file: 'server/routing/dispatcher.ts', text: "route.access !== 'control'",
    replacement: "route.access !== 'public'",
    tests: ['access/guard.test.ts'],
  },
  {
    file: 'server/routing/dispatcher.ts', text: "[entry, { ...entry, method: 'HEAD' }]",
    replacement: '[entry]', tests: ['server/exchange/hostile.test.ts'],
  },
  {
    file: 'server/routing/request-target.ts', text: "rest.startsWith('/') ? rest : `/${rest}`",
    replacement: 'rest', tests: ['server/exchange/hostile.test.ts'],
  },
  {
    file: 'server/exchange/read-body.ts',
    text: 'collector.length + chunk.length > bytesMax', replacement: 'collector.length > bytesMax',
    tests: ['server/exchange/read-body.test.ts'],
  },
  {
    file: 'server/exchange/read-body.ts', text: " || encoding.toLowerCase() === 'identity'",
    replacement: ' || encoding !== undefined', tests: ['server/exchange/read-body.test.ts'],
  },
  {
    file: 'server/exchange/read-body.ts',
    text: "request.headers['transfer-encoding'] !== undefined;", replacement: 'false;',
    tests: ['server/exchange/http-exchange.test.ts'],
  },
  {
    file: 'server/exchange/http-exchange.ts',
    text: 'if ((announcedLength(this.request) ?? 0) <= bodyBudget.bodyBytesMax) ', replacement: '',
    tests: ['server/exchange/read-body.test.ts'],
  },
  {
    file: 'server/exchange/http-exchange.ts', text: 'this.#context.isDraining || isFraming',
    replacement: 'isFraming', tests: ['server/listening/listener.test.ts'],
  },
  {
    file: 'server/exchange/http-exchange.ts', text: 'X-Content-Type-Options: nosniff\\r\\n',
    replacement: '', tests: ['server/exchange/http-exchange.test.ts'],
  },
  {
    file: 'server/exchange/single-write-response.ts',
    text: '&& status !== 204\n      && status !== 304',
    replacement: '&& status !== 204', tests: ['server/exchange/single-write-response.test.ts'],
  },
  {
    file: 'server/exchange/buffered-request.ts',
    text: 'buffer.length + chunk.length > BUFFERED_BYTES_MAX',
    replacement: 'chunk.length > BUFFERED_BYTES_MAX',
    tests: ['server/exchange/buffered-request.test.ts'],
  },
  {
    file: 'server/exchange/pipeline.ts', text: 'if (queue.waiting === 0) socket.resume();',
    replacement: '', tests: ['server/exchange/pipeline.test.ts'],
  },
  {
    file: 'server/exchange/response-stream.ts', text: 'nowMs - lastMs >= stallMs',
    replacement: 'nowMs > stallMs', tests: ['server/exchange/response-stream.test.ts'],
  },
  {
    file: 'server/exchange/discard-input.ts', text: 'discardedBytes > BYTES_MAX',
    replacement: 'discardedBytes < 0', tests: ['server/exchange/discard-input.test.ts'],
  },
  {
    file: 'server/exchange/client-address.ts', text: 'if (!isTrusted(client)) break;',
    replacement: '', tests: ['server/exchange/client-address.test.ts'],
  },
  {
    file: 'server/listening/listener.ts', text: 'rmSync(path, { force: true });', replacement: '',
    tests: ['server/listening/listener.test.ts'],
  },
  // Sockets of a supervisor.
  {
    file: 'server/listening/activated-sockets.ts', text: 'delete environment[name];',
    replacement: '', tests: ACTIVATED_SOCKETS,
  },
  {
    file: 'server/listening/activated-sockets.ts',
    text: ' && owner !== `${PARENT_PREFIX}${process.ppid}`', replacement: '',
    tests: ACTIVATED_SOCKETS,
  },
  {
    file: 'server/listening/activated-sockets.ts', text: 'if (count > SOCKETS_MAX)',
    replacement: 'if (count === SOCKETS_MAX)', tests: ACTIVATED_SOCKETS,
  },
  {
    file: 'server/metrics/metrics.ts', text: 'count += bucketCount;',
    replacement: 'count = bucketCount;', tests: ['server/exchange/http-exchange.test.ts'],
  },
  {
    file: 'server/documents/openapi-schema.ts',
    text: "if (form === 'view' && member.isWriteOnly === true) continue;", replacement: '',
    tests: ['server/documents/openapi.test.ts'],
  },
  // stream/
  {
    file: 'stream/stream-event.ts', text: 'index === last ? sequence',
    replacement: 'index === 0 ? sequence', tests: ['stream/stream.test.ts'],
  },
  {
    file: 'stream/stream-event.ts', text: 'webhookId === undefined || (webhookId',
    replacement: '(webhookId', tests: ['stream/stream.test.ts'],
  },
  {
    file: 'stream/stream-reader.ts', text: 'number > skippedChanges',
    replacement: 'number >= skippedChanges', tests: ['stream/stream.test.ts'],
  },
  {
    file: 'stream/broadcast.ts', text: 'this.#readers.size + this.#openingCount >= READERS_MAX',
    replacement: 'this.#readers.size >= READERS_MAX', tests: ['stream/broadcast.test.ts'],
  },
  {
    file: 'stream/broadcast.ts', text: 'const isOfThisLog = sequence < this.#sequence && sequence',
    replacement: 'const isOfThisLog = sequence', tests: ['stream/stream.test.ts'],
  },
  // monitoring/
  {
    file: 'monitoring/counters.ts', text: 'count < total * 0.95',
    replacement: 'count <= total * 0.95', tests: ['monitoring/statistics.test.ts'],
  },
  {
    file: 'monitoring/statistics.ts', text: 'slot?.startMs === startMs ? slot : null',
    replacement: 'slot ?? null', tests: ['monitoring/statistics.test.ts'],
  },
  {
    file: 'monitoring/log-lines.ts', text: 'SEVERITY[line.level] < SEVERITY[level]',
    replacement: 'line.level !== level', tests: ['monitoring/log-lines.test.ts'],
  },
  {
    file: 'monitoring/log-lines.ts', text: 'Math.max(after + 1, this.#lastNumber',
    replacement: 'Math.max(after, this.#lastNumber',
    tests: ['monitoring/log-lines.test.ts'],
  },
];
