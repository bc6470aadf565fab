/** Names that a shell, or a terminal, would take for more than a word. Each is one line. */
export const HOSTILE_NAMES: readonly string[] = [
  '$(touch owned)', '`touch owned`', '${x:=$(touch owned)}', '; touch owned', '(touch owned)',
  '& touch owned', '| touch owned', '> owned', '"', "'", '\\', '*', '~', '~root', '!!', '#', '-rf',
  '--data', 'a b', 'a\tb', 'file ', ':', '\u001b]0;owned\u0007', '\u001b[2J', 'a\rb', '\u0085',
  '\u202eb', 'größe', '書庫', '',
];
