/**
 * Loads the second script. It is fetched when something of it is first needed, and its text runs as
 * a script within the page: the policy of the page allows scripts by their hashes alone, so that
 * nothing else that the server answers can ever run.
 */
import { callApi } from '../base/api-calls.ts';

export type SecondScript = Pick<typeof import('./second-script.ts'), 'openers' | 'openEmitDialog'>;

declare global {
  interface Window {
    /** The exports of the second script, once it has run (.ci/build-console.mjs). */
    readonly secondScript?: SecondScript;
  }
}

let running: Promise<void> | null = null;

/** Throws ApiError when the server is away, or is of another release than the page. */
export async function loadSecondScript(): Promise<SecondScript> {
  if (window.secondScript === undefined) {
    running ??= runSecondScript().finally(() => {
      running = null;
    });
    await running;
  }
  if (window.secondScript !== undefined) return window.secondScript;
  throw new Error('The browser has refused a part of this page. Load the page anew.');
}

async function runSecondScript(): Promise<void> {
  // The build puts its name there, which changes with its text.
  const name = document.documentElement.dataset['secondScript'] ?? '';
  const { body } = await callApi<string>('GET', `/console/${name}`, { cache: 'default' });
  const script = document.createElement('script');
  script.textContent = body;
  // It runs here, or not at all where its hash is another.
  document.head.append(script);
  script.remove();
}
