/** `sun_path` of Linux, without its end mark; Node cuts longer ones without a word. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** Runs `create`: the unix socket it makes is its owner's alone from the start. */
export function withPrivateUmask<Result>(create: () => Result): Result {
  const umask = process.umask(0o177);
  try {
    return create();
  } finally {
    process.umask(umask);
  }
}
