/** The process as parameters, so that tests can stand in for it. */

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
