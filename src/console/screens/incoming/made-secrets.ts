/** Secrets that were made just now, by webhook: shown until the page is loaded anew. */
export const madeSecrets = new Map<string, string>();
