/** The version of package.json, which a test holds it to; the single binary has no such file. */
export const VERSION = '1.0.0';
