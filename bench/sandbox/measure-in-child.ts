import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Row } from './row.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

/** Measures one part in a process of its own: what others have left in memory must not count. */
export function measureInChild(part: string): readonly Row[] {
  const output = execFileSync(process.execPath, ['--expose-gc', main, part], { encoding: 'utf8' });
  return JSON.parse(output);
}
