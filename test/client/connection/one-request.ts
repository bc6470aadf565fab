/** A program that sends one request to argv[2] and has nothing else to live for. */
import { systemClock } from '../../../src/base/clock.ts';
import { createHttpClient } from '../../../src/client/http-client.ts';
import { OPTIONS } from '../setup.ts';

const [, , url = '', mode] = process.argv;
const client = createHttpClient({ ...OPTIONS, idleTimeoutMs: 60_000 }, { clock: systemClock });
const response = await client.request({ method: 'GET', url });
if (mode === 'close') await client.close();
process.stdout.write(`${response.statusCode}\n`);
