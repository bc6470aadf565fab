/**
 * `config:convert --from adnanh`: prints the configuration document for a hooks file, and on
 * standard error what has no counterpart and what people have to provide.
 */
import { isAbsolute } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import { isJsonObject } from '../../../../base/fields.ts';
import { ALLOWED_VARIABLES_DEFAULT } from '../../../../base/hook-variables.ts';
import { DOCUMENT_BYTES_MAX } from '../../../../base/files/bounded-read.ts';
import { escapeControls } from '../../../../base/text/printable.ts';
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
  for (const line of formatGaps(conversion)) output.note(line);
  output.note('what the file needs, to paste into a shell:');
  for (const line of [...formatNeeds(conversion), ...formatCalls(conversion)]) {
    context.io.stderr.write(`${escapeControls(line)}\n`);
  }
  return conversion.gaps.length === 0 ? 0 : EXIT_PENDING;
}

async function readHooks({ args, io }: CommandContext): Promise<Conversion> {
  const path = args.operand ?? STANDARD_INPUT;
  const bytes = path === STANDARD_INPUT ? await readStandardInput(io, DOCUMENT_BYTES_MAX)
    : readDocumentFile(path, false);
  try {
    return convertHooks(parseHooksFile(bytes), io.environment);
  } catch (thrown) {
    throw thrown instanceof AppError ? nameFile(thrown, path) : thrown;
  }
}

function formatGaps({ gaps }: Conversion): readonly string[] {
  return gaps.map(({ hook, pointer, reason, remedy, isDisabling }) =>
    `${hook === '' ? 'a hook' : hook}: ${pointer}: ${reason}: ${remedy}`
      + (isDisabling ? ' (disabled)' : ''));
}

/** A command for each thing that people have to provide: the document names it, and holds none. */
function formatNeeds(
  { variables, forbiddenVariables, scripts, commandPaths, workingDirectories }: Conversion,
): string[] {
  const names = [...ALLOWED_VARIABLES_DEFAULT, ...forbiddenVariables].join(',');
  return [
    // In zsh, where a person types, `#` begins no comment.
    ...variables.map(({ name, hook, pointer }) =>
      `export ${name}='…' # what stands at ${shellQuote(`${pointer} of ${hook}`)}`),
    `export HOOKSHELF_ACTIONS_COMMAND_DIRECTORY="$PWD/commands"`,
    'mkdir -m 700 -p "$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"',
    ...commandPaths.map((path) => `ln -s ${formatPath(path)} ${FOLDER}/`),
    // No hook may run an interpreter.
    ...[...scripts].map(([name, lines]) => `printf '%s\\n' ${lines.map(shellQuote).join(' ')}`
      + ` > ${FOLDER}/${name} && chmod 755 ${FOLDER}/${name}`),
    ...forbiddenVariables.length === 0 ? []
      : [`export HOOKSHELF_ACTIONS_ENVIRONMENT=${shellQuote(names)}`],
    ...workingDirectories.length === 0 ? [] : ['export HOOKSHELF_ACTIONS_WORKING_DIRECTORIES='
      + shellQuote(workingDirectories.join(','))],
  ];
}

const FOLDER = '"$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"';

/** A path as a word of a shell. One without a slash is found by PATH there. */
function formatPath(path: string): string {
  if (isAbsolute(path)) return shellQuote(path);
  return path.includes('/') ? `"$PWD"/${shellQuote(path)}` : `"$(command -v ${shellQuote(path)})"`;
}

/** A line to try each webhook that is enabled, once the document is applied. */
function formatCalls({ document: { incomingWebhooks } }: Conversion): string[] {
  const webhooks = (Array.isArray(incomingWebhooks) ? incomingWebhooks : []).filter(isJsonObject);
  return webhooks.filter(({ enabled }) => enabled !== false).map(({ pathSegment, secret }) =>
    secret === undefined ? "curl -H 'Content-Type: application/json' -d '{}' "
      + `http://127.0.0.1:8000/webhook/in/${String(pathSegment)}`
      // It is signed as the sender signs.
      : `hookshelf incomingwebhook:test ${String(pathSegment)} --payload '{}'`);
}
