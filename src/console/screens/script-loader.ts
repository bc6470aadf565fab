/**
 * Loads a script of the console that is not in the page: screens, views and dialogs, and what they
 * alone use. In the page are the overview and the lists of what happens; a screen to come belongs
 * into a script.
 *
 * A script is fetched when something of it is first needed, and its text runs as a script within
 * the page: the policy of the page allows scripts by their hashes alone, so that nothing else that
 * the server answers can ever run. The build gives all scripts one copy of what they share, and
 * says in `data-scripts` under which names the server has them (.ci/build-console.mjs).
 */
import { callApi } from '../base/api-calls.ts';

/** The exports of each script, by its name. */
type Scripts = {
  readonly books: typeof import('./books-script.ts');
  readonly records: typeof import('./records-script.ts');
  readonly server: typeof import('./server-script.ts');
  readonly webhooks: typeof import('./webhooks-script.ts');
};

declare global {
  interface Window {
    /** Has a member once the script of its name has run. */
    readonly parts: Scripts;
  }
}

/** Scripts that are being fetched, or have run; a failed one is not among them. */
const runs = new Map<string, Promise<void>>();

/** Throws ApiError when the server is away, or is of another release than the page. */
export async function loadScript<Name extends keyof Scripts>(name: Name): Promise<Scripts[Name]> {
  await runOnce(name, runOnce('common', Promise.resolve()));
  return window.parts[name];
}

function runOnce(name: string, earlier: Promise<void>): Promise<void> {
  const previousRun = runs.get(name);
  if (previousRun !== undefined) return previousRun;
  const run = fetchAndRun(name, earlier);
  runs.set(name, run);
  run.catch(() => runs.delete(name));
  return run;
}

/** Fetches the script at once, and runs it after `earlier`. */
async function fetchAndRun(name: string, earlier: Promise<void>): Promise<void> {
  const file = document.documentElement.dataset['scripts']?.split(' ')
    .find((candidate) => candidate.startsWith(`${name}-`));
  const [{ body }] = await Promise.all([
    callApi<string>('GET', `/console/${file}`, { cache: 'default' }), earlier,
  ]);
  const script = document.createElement('script');
  script.textContent = body;
  // It runs here, or not at all where its hash is another.
  document.head.append(script);
  script.remove();
  if (name in window.parts) return;
  throw new Error('The browser has refused a part of this page. Load the page anew.');
}
