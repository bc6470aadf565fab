/**
 * All that a command may load late, for one that will run as another user than the one who started
 * it: the program may stand where that user may not read.
 */
import './local-app.ts';
import './sample.ts';
import '../app.ts';
import '../base/errors.ts';
import '../base/log.ts';
