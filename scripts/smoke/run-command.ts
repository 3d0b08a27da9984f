import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

export interface RunOptions {
  /** @default the current folder */
  readonly cwd?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Standard output. Under this Node, not the first of the user's path. */
export function run(command: string, ...args: readonly string[]): string {
  return runWith({}, command, ...args);
}

/** As {@link run}, in another folder or environment. */
export function runWith(
  { cwd = '.', env = {} }: RunOptions,
  command: string,
  ...args: readonly string[]
): string {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const options = { cwd, encoding: 'utf8', env: { ...process.env, ...env, PATH } } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
