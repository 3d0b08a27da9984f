import { fileURLToPath } from 'node:url';

/**
 * The program that tests start: the bundle where the suite has built it, else the sources. A script, whose first line names its
 * interpreter: started with the Node that runs the tests.
 * @returns the command and its first arguments
 */
export function homeostatCommand(): readonly [string, ...string[]] {
  const bundle = process.env.HOMEOSTAT_TEST_EXECUTABLE;
  if (bundle !== undefined) return [process.execPath, bundle];
  return [fileURLToPath(new URL('../../bin/homeostat', import.meta.url))];
}
