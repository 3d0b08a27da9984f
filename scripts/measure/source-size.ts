import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** One file of `src` that is no test. */
export interface SourceFile {
  /** Below `src`, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly text: string;
}

/** All files of a folder of sources but tests. */
export function readSources(folder: string): readonly SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      return { path, lines: text.split('\n').length - 1, text };
    });
}

/** The first part of a path below `src`. */
export function roomOf({ path }: SourceFile): string {
  return path.split('/')[0] ?? '';
}

/** Names of exported types that say what a definition is, or where one stands. */
export function definitionTypes(files: readonly SourceFile[]): readonly string[] {
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(/^export (?:interface|type|(?:abstract )?class) (\w*Definition\w*)/gm)].map(
      ([, name = '']) => name,
    ),
  );
  return [...new Set(names)].toSorted();
}
