/** `sun_path` of Linux, without its end mark; Node cuts longer ones without a word. */
export const SOCKET_PATH_BYTES_MAX = 107;
