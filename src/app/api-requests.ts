/** Sends the requests of a program that embeds us to the routes of its app, in memory. */
import type { RequestListener } from 'node:http';
import { isUint8Array } from 'node:util/types';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import { encodeChecked } from '../base/json/encode.ts';
import { http } from '../base/node-modules.ts';
import { quote } from '../base/text/error-message.ts';
import { callApi } from '../server/local/api-call.ts';
import type { ApiTarget } from '../server/local/api-call.ts';
import { createMemoryTarget } from '../server/local/memory-target.ts';
import type { ApiAnswer, ApiMethod, ApiRequest, ApiRequestOptions } from './api-types.ts';

/** `listener` gives its callers all rights. */
export function createApiRequest(listener: RequestListener): ApiRequest {
  let target: ApiTarget | null = null;
  const request = async (
    method: ApiMethod, path: string, body?: unknown, options: ApiRequestOptions = {},
  ): Promise<ApiAnswer<unknown>> => {
    checkMethodAndPath(method, path);
    target ??= createMemoryTarget(listener);
    const { headers } = options;
    try {
      return await callApi(target, {
        method, path,
        ...body === undefined ? {} : { body: encodeBody(body) },
        ...headers === undefined ? {} : { headers },
      });
    } catch (thrown) {
      if (!isNodeTypeError(thrown)) throw thrown;
      const problem = `the request cannot be made: ${messageOf(thrown)}`;
      throw new AppError('malformed', problem, {}, thrown);
    }
  };
  // The tests of the OpenAPI document hold each route's answers to its model.
  return request as ApiRequest;
}

/** Bytes, such as those of a file to import, are sent as they are; all else is JSON. */
function encodeBody(body: unknown): Buffer {
  return Buffer.from(isUint8Array(body) ? body : encodeChecked(body));
}

// A program in plain JavaScript has no types that would check these.
function checkMethodAndPath(method: unknown, path: unknown): void {
  // A server drops the connection for a method that HTTP lacks, and a CONNECT gets no response.
  const name = typeof method === 'string' ? method.toUpperCase() : '';
  if (!http.METHODS.includes(name) || name === 'CONNECT') {
    throw new AppError('malformed', `the method must be one of HTTP, not ${quote(method)}`);
  }
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new AppError('malformed', 'the path must be a string that begins with "/"');
  }
  // Node's client sends characters of Latin-1 as they are, which its server refuses.
  const [raw] = NOT_IN_PATH.exec(path) ?? [];
  if (raw === undefined) return;
  throw new AppError('malformed', `the path holds ${quote(raw)}: percent-encode it, as `
    + 'encodeURIComponent does');
}

const NOT_IN_PATH = /[^!-~]/u;

/** Whether `node:http` threw it, for a header that it cannot send. */
function isNodeTypeError(thrown: unknown): boolean {
  return systemCodeOf(thrown)?.startsWith('ERR_') === true;
}
