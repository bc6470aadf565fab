/** Work that may take longer than there is time. */

/** null once `cutOff` is aborted: what comes of the work then is of no use to anybody. */
export function unlessCutOff<T>(work: Promise<T>, cutOff: AbortSignal): Promise<T | null> {
  if (cutOff.aborted) {
    work.catch(() => {});
    return Promise.resolve(null);
  }
  return new Promise((resolve, reject) => {
    const onCutOff = (): void => resolve(null);
    cutOff.addEventListener('abort', onCutOff);
    work.then(resolve, reject).finally(() => cutOff.removeEventListener('abort', onCutOff));
  });
}
