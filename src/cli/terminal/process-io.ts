/** Streams, environment and clock of the process as parameters, which tests replace. */

export type Io = {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
};

export type Terminal = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};
