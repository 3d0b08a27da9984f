import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Row } from './row.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

/** Measures one part in a process of its own: what others have left in memory must not count. */
export function measureInChild(part: string): readonly Row[] {
  // The heap of `homeostat run` and `homeostat dev`.
  const flags = ['--expose-gc', '--max-semi-space-size=4', '--heap-growing-percent=40'];
  const output = execFileSync(process.execPath, [...flags, main, part], { encoding: 'utf8' });
  return JSON.parse(output);
}
