/**
 * Programs that run what their arguments say: shells, interpreters, and programs that start another
 * one. A hook that may run one of them runs any program, as its arguments are not the operator's.
 */

const INTERPRETERS = [
  'sh', 'ash', 'bash', 'rbash', 'csh', 'dash', 'elvish', 'fish', 'ksh', 'lksh', 'mksh', 'nu',
  'posh', 'pwsh', 'rc', 'tcsh', 'yash', 'zsh',
  'awk', 'gawk', 'mawk', 'nawk', 'original-awk', 'bun', 'deno', 'expect', 'guile', 'irb', 'java',
  'js', 'jshell', 'julia', 'lua', 'luajit', 'node', 'nodejs', 'perl', 'php', 'php-cgi', 'pypy',
  'python', 'Rscript', 'ruby', 'jruby', 'sed', 'tclsh', 'tsx', 'wish',
  'busybox', 'toybox', 'chroot', 'doas', 'env', 'find', 'flock', 'ionice', 'nice', 'nohup',
  'nsenter', 'parallel', 'runuser', 'setpriv', 'setsid', 'stdbuf', 'su', 'sudo', 'systemd-run',
  'time', 'timeout', 'unshare', 'watch', 'xargs',
];
/** Suffixes of systems: a version (`python3.11`, `perl5.36-x86_64-linux-gnu`). */
const SUFFIX = /^(-static|-?\d[\d.]*[a-z]*\+?(-(dbg|static|[a-z0-9_]+-linux-gnu))?)?$/;

/** `name` is without folders. */
export function isInterpreterName(name: string): boolean {
  return INTERPRETERS.some((interpreter) =>
    name.startsWith(interpreter) && SUFFIX.test(name.slice(interpreter.length)));
}
