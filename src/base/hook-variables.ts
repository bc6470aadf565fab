/** The environment variables of hook commands. */

/**
 * The variables that tell a program which hook it runs for. The program may call hookshelf, which
 * must not take them for settings.
 */
export const HOOK_VARIABLES = {
  /** The identifier of the incoming webhook, as `hook` is on the wire. */
  hook: 'HOOKSHELF_HOOK',
  /** The identifier of the stored request; empty when none is kept. */
  request: 'HOOKSHELF_REQUEST',
  event: 'HOOKSHELF_EVENT',
  eventId: 'HOOKSHELF_EVENT_ID',
  /** 1 for the first attempt. */
  attempt: 'HOOKSHELF_ATTEMPT',
  contentType: 'HOOKSHELF_CONTENT_TYPE',
} as const;

/**
 * The valid names of variables; a file for a command bears the name of its variable. Programs can
 * read `HOOK_user.name`, though a shell has no `$` for it.
 */
export const VARIABLE_NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** The variables that hooks may name without the setting `actions.environment`. */
export const ALLOWED_VARIABLES_DEFAULT: readonly string[] = ['HOOK_*'];

/**
 * Whether hooks may name the variable. `allowed` has names, and prefixes that end in `*`: there is
 * no list of forbidden names, as each loader and interpreter brings variables that are programs.
 */
export function isAllowedVariable(name: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) =>
    entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry);
}
