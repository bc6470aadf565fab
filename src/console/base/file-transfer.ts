/** Reads a response line by line as it comes, and has the browser save files. */
import { fetchResponse } from './api-calls.ts';
import { h } from './dom.ts';

/**
 * Calls `onLine` with each line as it comes, until it returns false. The last line needs no line
 * break. Throws what the stream throws.
 */
export async function readLines(
  { body }: Response, onLine: (line: string) => boolean,
): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let rest = '';
  for (;;) {
    const { done, value = '' } = await reader.read();
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    if (done && rest !== '') lines.push(rest);
    if (!lines.every(onLine)) return reader.cancel();
    if (done) return;
  }
}

/** Has the browser save the response as a file. Throws ApiError. */
export async function downloadFile(
  path: string, fileName: string, signal?: AbortSignal,
): Promise<Blob> {
  const blob = await (await fetchResponse('GET', path, { signal })).blob();
  saveFile(blob, fileName);
  return blob;
}

export function saveFile(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}
