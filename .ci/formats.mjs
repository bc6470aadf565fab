// Holds the formats of books against other programs that read and write them, both ways.
import { testWithLibraries } from './libraries.mjs';

testWithLibraries([
  '@citation-js/core', '@citation-js/plugin-bibtex', '@citation-js/plugin-csl',
  '@citation-js/plugin-ris', 'jsonld',
], 'test/books/transfer/programs.long.ts', 'FORMATS_FOLDER');
