/** `sun_path` of Linux, without its end mark; Node cuts longer ones without a word. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** Runs `make`, whose unix socket is its owner's alone from the start: nothing else is made so. */
export function privately<Made>(make: () => Made): Made {
  const umask = process.umask(0o177);
  try {
    return make();
  } finally {
    process.umask(umask);
  }
}
