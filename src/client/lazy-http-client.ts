/** The shared client, loaded with the first request: many servers send nothing. */
import { lazyImport } from '../base/lazy-import.ts';
import type { HttpClient, HttpClientOptions, HttpClientPorts } from './http-client.ts';

const loadClientModule = lazyImport(() => import('./http-client.ts'));

/** Does as `createHttpClient`, but options that cannot be read are refused at the first request. */
export function createLazyHttpClient(
  options: HttpClientOptions, ports: HttpClientPorts,
): HttpClient {
  let client: HttpClient | null = null;
  let isClosed = false;
  const load = async (): Promise<HttpClient> => {
    const { createHttpClient } = await loadClientModule();
    client ??= createHttpClient(options, ports);
    // Closed while it was being loaded: its requests are to be refused as by any closed client.
    if (isClosed) await client.close();
    return client;
  };
  return {
    request: (request) => client === null
      ? load().then((client) => client.request(request)) : client.request(request),
    statistics: () => client?.statistics() ?? { calls: 0, attempts: 0, failures: 0, hosts: [] },
    async close() {
      isClosed = true;
      await client?.close();
    },
  };
}
