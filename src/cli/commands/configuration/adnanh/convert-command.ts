/**
 * `config:convert --from adnanh`: prints the configuration document for a hooks file, and on
 * standard error what has no counterpart and what people have to provide.
 */
import { basename } from 'node:path';
import { AppError, messageOf } from '../../../../base/errors.ts';
import { readBounded } from '../../../../base/files/bounded-read.ts';
import { EXIT_PENDING } from '../../../process/exit-code.ts';
import type { CommandContext } from '../../command-context.ts';
import { readStandardInput } from '../../option-input.ts';
import { DOCUMENT_BYTES_MAX, STANDARD_INPUT, nameFile } from '../configuration-file.ts';
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
    : readFile(path);
  try {
    return convertHooks(parseHooksFile(bytes));
  } catch (thrown) {
    throw thrown instanceof AppError ? nameFile(thrown, path) : thrown;
  }
}

function readFile(path: string): Buffer {
  try {
    return readBounded(path, { bytesMax: DOCUMENT_BYTES_MAX, isRegular: false }).bytes;
  } catch (cause) {
    throw new AppError('not_found', `cannot read ${path}: ${messageOf(cause)}`, {}, cause);
  }
}

function formatGaps({ gaps }: Conversion): readonly string[] {
  return gaps.map(({ hook, pointer, reason, remedy, isDisabling }) =>
    `${hook === '' ? 'a hook' : hook}: ${pointer}: ${reason}: ${remedy}`
      + (isDisabling ? ' (disabled)' : ''));
}

/** What the document names and does not hold. */
function formatNeeds({ variables, commandPaths, workingDirectories }: Conversion): string[] {
  return [
    ...variables.map(({ name, hook, pointer }) =>
      `set ${name}: what stands at ${pointer} of ${hook}`),
    ...commandPaths.map((path) =>
      `put ${basename(path)}, a copy or a link, into the folder of actions.commandDirectory: `
        + path),
    ...workingDirectories.map((directory) => `name in actions.workingDirectories: ${directory}`),
  ];
}
