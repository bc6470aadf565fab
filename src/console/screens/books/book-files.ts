/** What is told of a file of books by its name. The server alone reads and writes files. */
import { FORMATS } from '../../../books/transfer/format-list.ts';

/** What the server is told of a file by the ending of its name; null: nothing can be told. */
export function findMediaType(fileName: string): string | null {
  const name = fileName.toLowerCase();
  let longest = '';
  let found: string | null = null;
  for (const { endings, mediaTypes: [mediaType = null] } of FORMATS) {
    for (const ending of endings) {
      // Of an ending that several formats have, the first says the family: the server looks.
      if (!name.endsWith(ending) || ending.length <= longest.length) continue;
      longest = ending;
      found = mediaType;
    }
  }
  return found;
}
