/** The commands of LaTeX that stand in titles and names, as tables. */

/** Accents: the combining character that each sets on the letter after it. */
export const ACCENTS: ReadonlyMap<string, string> = new Map([
  ['`', '\u0300'], ["'", '\u0301'], ['^', '\u0302'], ['~', '\u0303'], ['=', '\u0304'],
  ['u', '\u0306'], ['.', '\u0307'], ['"', '\u0308'], ['r', '\u030a'], ['H', '\u030b'],
  ['v', '\u030c'], ['U', '\u030e'], ['G', '\u030f'], ['f', '\u0311'], ['d', '\u0323'],
  ['c', '\u0327'], ['k', '\u0328'], ['b', '\u0331'], ['t', '\u0361'],
]);

/** Accents that stand alone, where a command has no letter to set them on. */
export const LONE_ACCENTS: ReadonlyMap<string, string> = new Map([
  ['\u0300', '`'], ['\u0301', '´'], ['\u0302', '^'], ['\u0303', '~'], ['\u0304', '¯'],
  ['\u0306', '˘'], ['\u0307', '˙'], ['\u0308', '¨'], ['\u030a', '˚'], ['\u030b', '˝'],
  ['\u030c', 'ˇ'], ['\u0327', '¸'], ['\u0328', '˛'],
]);

/** Commands that are one character, or few. */
export const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['aa', 'å'], ['AA', 'Å'], ['ae', 'æ'], ['AE', 'Æ'], ['oe', 'œ'], ['OE', 'Œ'], ['o', 'ø'],
  ['O', 'Ø'], ['l', 'ł'], ['L', 'Ł'], ['ss', 'ß'], ['SS', 'ẞ'], ['i', 'ı'], ['j', 'ȷ'],
  ['dh', 'ð'], ['DH', 'Ð'], ['th', 'þ'], ['TH', 'Þ'], ['dj', 'đ'], ['DJ', 'Đ'], ['ng', 'ŋ'],
  ['NG', 'Ŋ'], ['textbackslash', '\\'], ['textbraceleft', '{'], ['textbraceright', '}'],
  ['lbrace', '{'], ['rbrace', '}'], ['textasciitilde', '~'], ['textasciicircum', '^'],
  ['textasciigrave', '`'], ['textunderscore', '_'], ['textdollar', '$'], ['textless', '<'],
  ['textgreater', '>'], ['textbar', '|'], ['textquotesingle', "'"], ['textquotedbl', '"'],
  ['textquoteleft', '‘'], ['textquoteright', '’'], ['textquotedblleft', '“'],
  ['textquotedblright', '”'], ['lq', '‘'], ['rq', '’'], ['quotedblbase', '„'],
  ['quotesinglbase', '‚'], ['guillemotleft', '«'], ['guillemotright', '»'],
  ['guilsinglleft', '‹'], ['guilsinglright', '›'], ['flqq', '«'], ['frqq', '»'], ['glqq', '„'],
  ['grqq', '“'], ['textendash', '–'], ['textemdash', '—'], ['dots', '…'], ['ldots', '…'],
  ['textellipsis', '…'], ['textbullet', '•'], ['textperiodcentered', '·'], ['slash', '/'],
  ['S', '§'], ['textsection', '§'], ['P', '¶'], ['textparagraph', '¶'], ['dag', '†'],
  ['ddag', '‡'], ['copyright', '©'], ['textcopyright', '©'], ['textregistered', '®'],
  ['texttrademark', '™'], ['pounds', '£'], ['textsterling', '£'], ['euro', '€'],
  ['texteuro', '€'], ['textyen', '¥'], ['textcent', '¢'], ['textdegree', '°'],
  ['textordfeminine', 'ª'], ['textordmasculine', 'º'], ['textexclamdown', '¡'],
  ['textquestiondown', '¿'], ['textnumero', '№'], ['textschwa', 'ə'], ['TeX', 'TeX'],
  ['LaTeX', 'LaTeX'], ['BibTeX', 'BibTeX'], ['quad', ' '],
  ['qquad', ' '], ['space', ' '], ['newline', ' '], ['par', ' '],
]);

/** Commands of mathematics, within dollar signs and without. */
export const MATH_SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['alpha', 'α'], ['beta', 'β'], ['gamma', 'γ'], ['delta', 'δ'], ['epsilon', 'ε'],
  ['varepsilon', 'ε'], ['zeta', 'ζ'], ['eta', 'η'], ['theta', 'θ'], ['vartheta', 'ϑ'],
  ['iota', 'ι'], ['kappa', 'κ'], ['lambda', 'λ'], ['mu', 'μ'], ['nu', 'ν'], ['xi', 'ξ'],
  ['pi', 'π'], ['rho', 'ρ'], ['sigma', 'σ'], ['varsigma', 'ς'], ['tau', 'τ'],
  ['upsilon', 'υ'], ['phi', 'φ'], ['varphi', 'φ'], ['chi', 'χ'], ['psi', 'ψ'], ['omega', 'ω'],
  ['Gamma', 'Γ'], ['Delta', 'Δ'], ['Theta', 'Θ'], ['Lambda', 'Λ'], ['Xi', 'Ξ'], ['Pi', 'Π'],
  ['Sigma', 'Σ'], ['Upsilon', 'Υ'], ['Phi', 'Φ'], ['Psi', 'Ψ'], ['Omega', 'Ω'],
  // LaTeX has no command for those that look Latin; bibutils writes them all the same.
  ['Alpha', 'Α'], ['Beta', 'Β'], ['Epsilon', 'Ε'], ['Zeta', 'Ζ'], ['Eta', 'Η'], ['Iota', 'Ι'],
  ['Kappa', 'Κ'], ['Mu', 'Μ'], ['Nu', 'Ν'], ['Omicron', 'Ο'], ['omicron', 'ο'], ['Rho', 'Ρ'],
  ['Tau', 'Τ'], ['Chi', 'Χ'],
  ['times', '×'], ['div', '÷'], ['cdot', '·'], ['pm', '±'], ['leq', '≤'], ['le', '≤'],
  ['geq', '≥'], ['ge', '≥'], ['neq', '≠'], ['approx', '≈'], ['sim', '∼'], ['infty', '∞'],
  ['rightarrow', '→'], ['to', '→'], ['leftarrow', '←'], ['leftrightarrow', '↔'],
  ['partial', '∂'], ['nabla', '∇'], ['sum', '∑'], ['int', '∫'], ['sqrt', '√'], ['in', '∈'],
  ['forall', '∀'], ['exists', '∃'], ['circ', '∘'], ['ell', 'ℓ'], ['hbar', 'ℏ'], ['sharp', '♯'],
  ['flat', '♭'], ['star', '⋆'], ['prime', '′'], ['cdots', '⋯'],
]);

/** Commands that leave no trace, and are no loss: what they say is for typesetting alone. */
export const SILENT_COMMANDS: ReadonlySet<string> = new Set([
  'protect', 'relax', 'mbox', 'text', 'textnormal', 'ensuremath', 'NoCaseChange', 'uppercase',
  'MakeUppercase', 'linebreak', 'allowbreak', 'nobreak', 'break', 'sloppy', 'null',
]);

/** Commands that only say how their text looks, or how it is set: it goes without them. */
export const MARKUP_COMMANDS: ReadonlySet<string> = new Set([
  'emph', 'textit', 'textbf', 'textsc', 'textsl', 'texttt', 'textrm', 'textsf', 'textup', 'textmd',
  'textsuperscript', 'textsubscript', 'underline', 'uline', 'mkbibemph', 'mkbibbold', 'mkbibitalic',
  'mkbibparens', 'mkbibbrackets', 'em', 'it', 'bf', 'sc', 'sl', 'tt', 'rm', 'sf', 'up', 'cal',
  'itshape', 'bfseries', 'scshape', 'slshape', 'ttfamily', 'rmfamily', 'sffamily', 'upshape',
  'mdseries', 'normalfont', 'tiny', 'scriptsize', 'footnotesize', 'small', 'normalsize', 'large',
  'Large', 'LARGE', 'huge', 'Huge', 'mathrm', 'mathit', 'mathbf', 'mathsf', 'mathtt', 'mathcal',
  'mathbb', 'mathfrak', 'mathscr', 'boldsymbol', 'bm', 'operatorname', 'sqrt', 'lowercase',
  'MakeLowercase', 'path', 'nolinkurl', 'left', 'right', 'bgroup', 'egroup', 'noindent', 'newline',
  'par', 'quad', 'qquad', 'hfill', 'unskip', 'ignorespaces', 'displaystyle',
]);

/** Commands whose first group is no text: it goes, and with it what the command says. */
export const COMMANDS_OF_TWO_GROUPS: ReadonlySet<string> = new Set([
  'href', 'foreignlanguage', 'textcolor', 'color', 'selectlanguage', 'noopsort', 'hspace',
  'vspace', 'begin', 'end', 'label', 'cite',
]);

/** Commands that set their group in quotation marks. */
export const QUOTING_COMMANDS: ReadonlySet<string> = new Set(['enquote', 'mkbibquote']);
