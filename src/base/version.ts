/**
 * The version of package.json, which a test holds it to; the single binary has no such file.
 * Between releases it is that of the next one, by the changelog, with `-dev`.
 */
export const VERSION = '1.0.0-dev';
