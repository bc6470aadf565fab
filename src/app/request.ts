/** Requests to the routes of an app from the program that it lives in, in memory. */
import type { RequestListener } from 'node:http';
import { exchange } from '../server/local/call.ts';
import type { Target } from '../server/local/call.ts';
import { memoryTarget } from '../server/local/memory-target.ts';
import type { ApiAnswer, ApiMethod, ApiRequest, ApiRequestOptions } from './api.ts';

/** `listener` serves whoever may do everything. */
export function requestsTo(listener: RequestListener): ApiRequest {
  let target: Target | null = null;
  const request = (
    method: ApiMethod, path: string, body?: unknown, options: ApiRequestOptions = {},
  ): Promise<ApiAnswer<unknown>> => {
    target ??= memoryTarget(listener);
    const { headers } = options;
    return exchange(target, {
      method, path,
      ...body === undefined ? {} : { body }, ...headers === undefined ? {} : { headers },
    });
  };
  // What a route answers is held to its model by the tests of the OpenAPI document.
  return request as ApiRequest;
}
