/** Shared by the commands of stored requests and of deliveries: headers and bodies. */
import type { JsonObject } from '../../../base/schema.ts';
import { ByteCollector } from '../../../base/structures/byte-collector.ts';
import { connectionLostError } from '../../../server/local/api-call.ts';
import type { CommandContext } from '../command-context.ts';
import { formatValue } from '../resource-commands.ts';

/** The end of a sentence on a delivery that is due: what keeps it from being sent, if anything. */
export function describeWait({ waitsFor }: JsonObject): string {
  if (waitsFor === 'rate') return ' as soon as the rate of its webhook lets it';
  return waitsFor === 'webhook' ? ' once its webhook is enabled' : '';
}

/** Joins the values of headers of one name, for people. */
export function joinHeaders(request: JsonObject): JsonObject {
  const headers = new Map<string, string>();
  for (const [name, value] of parseHeaderPairs(request['headers'])) {
    const earlierValue = headers.get(name);
    headers.set(name, earlierValue === undefined ? value : `${earlierValue}, ${value}`);
  }
  return { ...request, headers: Object.fromEntries(headers) };
}

/** The headers of a stored request, in order; none where the member is absent. */
export function parseHeaderPairs(headers: unknown): (readonly [string, string])[] {
  const pairs: readonly unknown[] = Array.isArray(headers) ? headers : [];
  return pairs.flatMap((pair) => Array.isArray(pair)
    ? [[formatValue(pair[0]), String(pair[1])] as const] : []);
}

/** Prints the body of the record at `path`: byte for byte, or as escaped text on a terminal. */
export async function printBody(
  context: CommandContext, path: string,
): Promise<void> {
  const { output } = context;
  const body = await readBody(context, `${path}/body`);
  if (output.isJson) await output.json({ body: body.toString('base64') });
  // Untrusted bytes could take over a terminal.
  else if (output.columns !== null) await output.text(body.toString('utf8'));
  else await output.write(body);
}

/** Reads the bytes that stand at `path`, as they are. */
export async function readBody({ openApiClient }: CommandContext, path: string): Promise<Buffer> {
  const apiClient = await openApiClient();
  const response = await apiClient.stream({ method: 'GET', path, isForAttachment: true });
  const bytes = new ByteCollector();
  try {
    for await (const chunk of response) bytes.add(Buffer.from(chunk));
  } catch (thrown) {
    throw connectionLostError(thrown);
  }
  return bytes.take();
}
