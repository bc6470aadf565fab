/** The program's version; a test holds it equal to package.json's. */
export const VERSION = '1.0.0';
