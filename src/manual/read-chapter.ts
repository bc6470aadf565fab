/**
 * The texts of the chapters: files of the package, or inside the binary. They are read when
 * somebody asks for one, never at a start.
 */
import { AppError } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { readPackageFile } from '../base/files/package-file.ts';
import { findNearest } from '../base/text/nearest.ts';
import { CHAPTERS } from './chapters.ts';
import type { Chapter } from './chapters.ts';

/** Throws `not_found`, with the name that was most likely meant. */
export function getChapter(name: string): Chapter {
  const chapter = CHAPTERS.find((one) => one.name === name);
  if (chapter !== undefined) return chapter;
  const near = findNearest(name, CHAPTERS.map((one) => one.name));
  const hint = near === null ? 'hookshelf manual and /docs list them' : `did you mean ${near}?`;
  throw new AppError('not_found', `there is no chapter "${name}" in the manual: ${hint}`);
}

/** Markdown. Throws `unavailable` where the files of the program may not be read. */
export function readChapter({ name }: Chapter): string {
  try {
    return readPackageFile(`src/manual/${name}.md`).toString();
  } catch (thrown) {
    const problem = `the manual cannot be read (${explainFileError(thrown)})`;
    throw new AppError('unavailable', problem, {}, thrown);
  }
}
