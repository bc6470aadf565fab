/**
 * The version of package.json, which a test holds it to; the single binary has no such file.
 * Between releases it is that of the next one, by the changelog, with `-dev`.
 */
export const VERSION = '1.0.0-dev';

declare const HOOKSHELF_COMMIT: string | null | undefined;

/** The commit of the build, with `-dirty` when files differed from it; null: not known. */
export const COMMIT: string | null =
  typeof HOOKSHELF_COMMIT === 'string' ? HOOKSHELF_COMMIT : null;

/** The version as people tell builds apart by it (semver.org §10): `1.0.0-dev+1a2b3c4d5e6f`. */
export const BUILD: string = formatBuild(VERSION, COMMIT);

export function formatBuild(version: string, commit: string | null): string {
  return commit === null ? version : `${version}+${commit}`;
}
