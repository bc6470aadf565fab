/**
 * Continues with a result that is either there at once or promised, for the runs of actions.
 * An action that gives its result at once has ended before the next request is looked at, so it is
 * never among the actions under way, whose number is limited. With an `await` all requests of one
 * turn of the event loop would be under way together: with 300 connections to one webhook, a third
 * of the requests were answered 503 (measured). In CPU time it saves nothing that bench `incoming`
 * shows.
 * All other code is plainly `async`.
 */
import { isPromise } from 'node:util/types';

/** `isPromise` tells them apart: an object with a `then` of its own is no promise. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Calls `next` with the result: at once if it is there, else when the promise is fulfilled.
 * `onError` gets the reason of a rejected promise. It does not get what `next` throws: that goes to
 * the caller.
 */
export function whenDone<T, R>(
  result: MaybePromise<T>, next: (value: T) => MaybePromise<R>,
  onError?: (reason: unknown) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(result) ? result.then(next, onError) : next(result);
}
