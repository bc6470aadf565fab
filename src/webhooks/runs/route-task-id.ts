/**
 * Identifiers of the scheduler's tasks, one for each pending route of a request. The task of the
 * first route has the request's id: most requests have one route, and making a text takes longer
 * than the look-up by it. The task of any other route is `<request>.<index>`.
 */

const SEPARATOR = '.';

export function createTaskId(request: string, index: number): string {
  return index === 0 ? request : `${request}${SEPARATOR}${index}`;
}

/** Returns the id of the request that a task belongs to. */
export function parseRequestId(taskId: string): string {
  const end = taskId.indexOf(SEPARATOR);
  return end === -1 ? taskId : taskId.slice(0, end);
}

/** Returns the index of the task's route in the request. */
export function parseRouteIndex(taskId: string): number {
  const end = taskId.indexOf(SEPARATOR);
  return end === -1 ? 0 : Number(taskId.slice(end + 1));
}
