import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../reach', import.meta.url));

/** The sketches of real operators. */
export function reachNames(): readonly string[] {
  return readdirSync(root, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? [each.name] : [],
  );
}

/** The folder of a sketch: with its definition, its samples and its tests. */
export function reachFolder(name: string): string {
  return `${root}/${name}`;
}
