/** Sends files, and has the browser save them. */
import { BASE, createApiError, parseBody, readBody, sendRequest } from './api-calls.ts';
import { callerSession } from './caller-session.ts';
import { h } from './dom.ts';

type UploadOptions = {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called with the text that has come so far. */
  readonly onReceived?: (text: string) => void;
};

/**
 * Resolves with the text of a response of status 2xx. Throws ApiError for any other, Error when the
 * response does not come, and an AbortError once `signal` is aborted. The browser reads the file
 * while it sends it. It reads the response afterwards, so that this must be a short one.
 */
export function uploadFile(path: string, file: Blob, options: UploadOptions): Promise<string> {
  const { headers, signal, onReceived } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', BASE + path);
    setHeaders(request, headers);
    request.onprogress = () => {
      if (isSuccess(request)) onReceived?.(request.responseText);
    };
    request.onload = () => {
      const { status, responseText } = request;
      callerSession.setOnline(true);
      if (status === 401) callerSession.onRefused();
      if (isSuccess(request)) resolve(responseText);
      else {
        const contentType = request.getResponseHeader('Content-Type');
        reject(createApiError(parseBody(responseText, contentType), status));
      }
    };
    request.onerror = () => reject(new Error('The file could not be sent: '
      + 'the server is away, or the file was changed after it had been chosen.'));
    request.onabort = () => reject(createAbortError());
    signal.addEventListener('abort', () => request.abort());
    if (signal.aborted) reject(createAbortError());
    else request.send(file);
  });
}

function setHeaders(request: XMLHttpRequest, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  if (callerSession.token === null) return;
  request.setRequestHeader('Authorization', `Bearer ${callerSession.token}`);
}

function isSuccess({ status }: XMLHttpRequest): boolean {
  return status >= 200 && status < 300;
}

function createAbortError(): DOMException {
  return new DOMException('The upload was stopped.', 'AbortError');
}

/** Resolves with a response of status 2xx, whose body is read as it comes. Throws ApiError. */
export async function fetchBody(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await sendRequest('GET', path, { signal });
  if (response.ok) return response;
  throw createApiError(await readBody(response, signal), response.status);
}

/** Has the browser save the response as a file. Throws ApiError. */
export async function downloadFile(
  path: string, fileName: string, signal?: AbortSignal,
): Promise<Blob> {
  const blob = await (await fetchBody(path, signal)).blob();
  saveFile(blob, fileName);
  return blob;
}

export function saveFile(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}
