/** `HOOKSHELF_TEST_LONG=1`: what is tried at random is tried more often, in more time. */
export const IS_LONG = process.env['HOOKSHELF_TEST_LONG'] === '1';
