/** What each setting of the commands that hooks run changes. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { addRecord } from '../ask.ts';
import type { Place } from './place.ts';
import type { Rows } from './row.ts';

const folder = createTemporaryFolder();
const commandDirectory = join(folder, 'hooks');
const elsewhere = join(folder, 'elsewhere');
mkdirSync(commandDirectory, { mode: 0o755 });
mkdirSync(elsewhere);
const meet = join(commandDirectory, 'meet.sh');
/** Whether another one runs at the same time. */
writeFileSync(meet, `#!/bin/bash
touch "${folder}/run-$$"
for turn in {1..50}; do
  [ "$(ls "${folder}" | grep -c ^run-)" -gt 1 ] && { touch "${folder}/met"; break; }
  sleep 0.02
done
[ -e "${folder}/met" ] && sleep 0.1
rm "${folder}/run-$$"
[ -e "${folder}/met" ]
`);
chmodSync(meet, 0o755);

const configure = async ({ ask }: Place, options: object): Promise<number> => {
  const body = { actionType: 'run-command', options: { command: 'meet.sh', ...options } };
  return (await ask('/api/action-configurations', { method: 'POST', body })).status;
};

export const COMMAND_ROWS: Rows = {
  'actions.commandDirectory': {
    value: commandDirectory,
    observe: async ({ ask }) => (await ask('/api/actions')).text.includes('run-command'),
    changed: true, isShared: true, standard: false,
  },
  'actions.workingDirectories': {
    value: [elsewhere], beside: { 'actions.commandDirectory': commandDirectory },
    observe: (place) => configure(place, { workingDirectory: elsewhere }),
    changed: 201, isShared: true, standard: 422,
  },
  'actions.environment': {
    value: ['STAGE'], beside: { 'actions.commandDirectory': commandDirectory },
    observe: (place) => configure(place, { environment: { STAGE: 'test' } }),
    changed: 201, isShared: true, standard: 422,
  },
  'actions.maxCommands': {
    value: 1, beside: { 'actions.commandDirectory': commandDirectory },
    observe: async ({ url, ask }) => {
      rmSync(join(folder, 'met'), { force: true });
      await addRecord(`${url}/api/action-configurations`, {
        identifier: 'meet', actionType: 'run-command', options: { command: 'meet.sh' },
      });
      await addRecord(`${url}/api/incoming-webhooks`, {
        pathSegment: 'meet', actionConfiguration: 'meet',
      });
      const replies = await Promise.all([1, 2].map(() =>
        ask('/webhook/in/meet', { method: 'POST', body: {} })));
      return replies.map(({ status }) => status);
    },
    changed: [400, 400], isShared: true, standard: [200, 200],
  },
};
