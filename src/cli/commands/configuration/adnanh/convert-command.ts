/**
 * `config:convert --from adnanh`: prints the configuration document for a hooks file, and on
 * standard error what has no counterpart and what people have to provide.
 */
import { basename } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import { ALLOWED_VARIABLES_DEFAULT } from '../../../../base/hook-variables.ts';
import { DOCUMENT_BYTES_MAX } from '../../../../base/files/bounded-read.ts';
import { shellQuote } from '../../../../base/text/shell-quote.ts';
import { EXIT_PENDING } from '../../../process/exit-code.ts';
import type { CommandContext } from '../../command-context.ts';
import { readStandardInput } from '../../option-input.ts';
import { STANDARD_INPUT, nameFile, readDocumentFile } from '../configuration-file.ts';
import { convertHooks, type Conversion } from './convert-hooks.ts';
import { parseHooksFile } from './hooks-file.ts';

/** Exit code 3 when anything has no counterpart. */
export async function convertConfiguration(context: CommandContext): Promise<number> {
  const { output } = context;
  const conversion = await readHooks(context);
  await output.json(conversion.document);
  for (const line of [...formatGaps(conversion), ...formatNeeds(conversion)]) output.note(line);
  return conversion.gaps.length === 0 ? 0 : EXIT_PENDING;
}

async function readHooks({ args, io }: CommandContext): Promise<Conversion> {
  const path = args.operand ?? STANDARD_INPUT;
  const bytes = path === STANDARD_INPUT ? await readStandardInput(io, DOCUMENT_BYTES_MAX)
    : readDocumentFile(path, false);
  try {
    return convertHooks(parseHooksFile(bytes));
  } catch (thrown) {
    throw thrown instanceof AppError ? nameFile(thrown, path) : thrown;
  }
}

function formatGaps({ gaps }: Conversion): readonly string[] {
  return gaps.map(({ hook, pointer, reason, remedy, isDisabling }) =>
    `${hook === '' ? 'a hook' : hook}: ${pointer}: ${reason}: ${remedy}`
      + (isDisabling ? ' (disabled)' : ''));
}

/** A line for each thing that people have to provide: the document names it, and holds none. */
function formatNeeds(
  { variables, forbiddenVariables, scripts, commandPaths, workingDirectories }: Conversion,
): string[] {
  const allowed = [...ALLOWED_VARIABLES_DEFAULT, ...forbiddenVariables].join(',');
  return [
    ...variables.map(({ name, hook, pointer }) =>
      `set ${name}: what stands at ${pointer} of ${hook}`),
    ...commandPaths.map((path) =>
      `put ${basename(path)}, a copy or a link, into the folder of actions.commandDirectory: `
        + path),
    ...[...scripts].map(([name, lines]) => {
      const file = `"$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"/${name}`;
      return `no hook may run an interpreter: printf '%s\\n' ${lines.map(shellQuote).join(' ')}`
        + ` > ${file} && chmod 755 ${file}`;
    }),
    ...forbiddenVariables.length === 0 ? [] : [
      `allow commands the variables ${forbiddenVariables.join(', ')}: `
        + `export HOOKSHELF_ACTIONS_ENVIRONMENT='${allowed}'`,
    ],
    ...workingDirectories.map((directory) => `name in actions.workingDirectories: ${directory}`),
  ];
}
