/** The built program, for a process of its own. */
import { resolve } from 'node:path';

/** As it is given out. */
export const PROGRAM = resolve(import.meta.dirname, '../../dist/main.js');
/** The same; in a run of all tests a copy that starts sooner and holds more memory. */
export const QUICK_PROGRAM = process.env['TEST_PROGRAM'] ?? PROGRAM;
