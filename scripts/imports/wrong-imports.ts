import { posix } from 'node:path';
import type { SourceFile } from '../measure/source-size.ts';
import { belowSource, packages, rooms } from './rooms.ts';

/** Imports that the tables of rooms and packages do not permit, one line each. */
export function wrongImports(
  files: readonly Pick<SourceFile, 'path' | 'text'>[],
): readonly string[] {
  return files.flatMap((file) =>
    importsOf(file.text).flatMap(({ imported, line }) => {
      const mistake = mistakeOf(file.path, imported);
      return mistake === undefined ? [] : [`src/${belowSource(file.path)}:${line}: ${mistake}`];
    }),
  );
}

interface Import {
  readonly imported: string;
  readonly line: number;
}

/** Imports of values and types, `export ... from`, and `import()` of a text. */
function importsOf(text: string): readonly Import[] {
  const statement = /^(?:import|export) (?:[\w*{},\s]+ from )?'([^']+)';|\bimport\('([^']+)'\)/gm;
  return [...text.matchAll(statement)].map((match) => ({
    imported: match[1] ?? match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

function mistakeOf(path: string, imported: string): string | undefined {
  if (imported.startsWith('#')) return roomMistake(path, targetOf(imported.slice(1)));
  if (!imported.startsWith('.')) return packageMistake(path, imported);
  const target = posix.join(posix.dirname(path), imported);
  const room = roomOf(target);
  // Files outside of `src` have no alias.
  return room === roomOf(path) || room === '..'
    ? undefined
    : `Another room is imported by its alias: "#${room}", not "${imported}"`;
}

/** The file of an alias: `kube` is `kube/index.ts`. */
function targetOf(alias: string): string {
  return alias.includes('/') ? alias : `${alias}/index.ts`;
}

function roomMistake(from: string, to: string): string | undefined {
  const room = roomOf(from);
  const target = roomOf(to);
  if (target === room) return `Inside of a room, imports are relative: not "#${target}"`;
  const permitted = rooms[room];
  if (permitted === undefined) return `The room "${room}" is not in scripts/imports/rooms.ts`;
  if (permitted.some((entry) => entriesOf(entry).some((way) => way === to || way === target))) {
    return undefined;
  }
  return `${room} may not import src/${belowSource(to)}, only ${permitted.join(', ')}, through index.ts or roles.ts`;
}

/** The files by which an entry of the table is imported; a room as a whole if it has no entry of its own. */
function entriesOf(entry: string): readonly string[] {
  if (entry === 'util') return [entry];
  if (entry.includes('/')) return [`${entry}.ts`, `${entry}/index.ts`];
  return [`${entry}/index.ts`, `${entry}/roles.ts`];
}

function packageMistake(from: string, imported: string): string | undefined {
  if (imported.startsWith('node:')) return undefined;
  const name = imported
    .split('/')
    .slice(0, imported.startsWith('@') ? 2 : 1)
    .join('/');
  const owner = packages[name];
  if (owner === undefined) return `The package "${name}" is not in scripts/imports/rooms.ts`;
  return owner === from || owner === roomOf(from)
    ? undefined
    : `Only src/${belowSource(owner)} may import "${name}"`;
}

function roomOf(path: string): string {
  return path.split('/')[0] ?? '';
}
