/** Tasks of the scheduler: each route of a request that is to run is one, `<request>.<index>`. */

const SEPARATOR = '.';

export function taskIdOf(request: string, index: number): string {
  return `${request}${SEPARATOR}${index}`;
}

/** The request that a task belongs to. */
export function requestOf(taskId: string): string {
  return taskId.slice(0, taskId.lastIndexOf(SEPARATOR));
}

/** The place of the task's route among those of the request. */
export function routeIndexOf(taskId: string): number {
  return Number(taskId.slice(taskId.lastIndexOf(SEPARATOR) + 1));
}
