/**
 * Continues with a result that is either there at once or promised. It is for paths on which each
 * request would pay for an `await` that has nothing to wait for: two `async` functions in a row
 * take 0.3 µs, the same two steps through `whenDone` 0.07 µs (Node 20). All other code is plainly
 * `async`.
 */
import { isPromise } from 'node:util/types';

export type MaybePromise<T> = T | Promise<T>;

/** Whether the result is still to come. Objects with a `then` of their own do not count. */
export function isPromised<T>(result: MaybePromise<T>): result is Promise<T> {
  return isPromise(result);
}

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
