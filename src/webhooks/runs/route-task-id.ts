/**
 * Tasks of the scheduler: each route of a request that is to run is one. The first goes by the
 * request's own id, as most requests have no other: a text that is made anew for each look-up takes
 * longer than the look-up. Those of further routes are `<request>.<index>`.
 */

const SEPARATOR = '.';

export function createTaskId(request: string, index: number): string {
  return index === 0 ? request : `${request}${SEPARATOR}${index}`;
}

/** The request that a task belongs to. */
export function parseRequestId(taskId: string): string {
  const end = taskId.indexOf(SEPARATOR);
  return end === -1 ? taskId : taskId.slice(0, end);
}

/** The place of the task's route among those of the request. */
export function parseRouteIndex(taskId: string): number {
  const end = taskId.indexOf(SEPARATOR);
  return end === -1 ? 0 : Number(taskId.slice(end + 1));
}
