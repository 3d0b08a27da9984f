import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fromRoom } from '../imports/rooms.ts';

/** One file of `src` that is no test. */
export interface SourceFile {
  /** From its room on, with slashes: `kube/api/writer.ts`. */
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
      return { path: fromRoom(path), lines: text.split('\n').length - 1, text };
    });
}

/** The first part of its path. */
export function roomOf({ path }: SourceFile): string {
  return path.split('/')[0] ?? '';
}

/** The rooms from a manifest to what reconciles its resources and to its status. */
const engineRooms = ['definition', 'check', 'compile', 'reconcile', 'runtime'];

/** Names of exported types that describe a definition. */
export interface DefinitionTypes {
  /** A whole definition in one of its stages, from its manifest to its status. */
  readonly ofEngine: readonly string[];
  /** Its fields, as written: `ChildDefinition`. */
  readonly parts: readonly string[];
  /** Tools of authors, the console, and the library. */
  readonly ofOthers: readonly string[];
}

/**
 * Names of exported interfaces and type aliases with "Definition". A class acts on definitions and describes none, nor do the options of
 * a function. The definitions of the sandbox are those of table columns.
 */
export function definitionTypes(files: readonly SourceFile[]): DefinitionTypes {
  const found = files.flatMap((file) =>
    [...file.text.matchAll(/^export (?:interface|type) (\w*Definition\w*)/gm)].map(
      ([, name = '']) => ({ name, file }),
    ),
  );
  const names = (isWanted: (file: SourceFile, name: string) => boolean) => {
    const all = found.filter(({ name, file }) => isWanted(file, name)).map(({ name }) => name);
    return [...new Set(all)].toSorted();
  };
  const isPart = ({ path }: SourceFile, name: string) =>
    path === 'definition/operator-definition.ts' && name !== 'OperatorDefinition';
  const isWhole = (file: SourceFile, name: string) =>
    !isPart(file, name) && !name.endsWith('Options') && roomOf(file) !== 'sandbox';
  const isOfEngine = (file: SourceFile) => engineRooms.includes(roomOf(file));
  return {
    ofEngine: names((file, name) => isWhole(file, name) && isOfEngine(file)),
    parts: names(isPart),
    ofOthers: names((file, name) => isWhole(file, name) && !isOfEngine(file)),
  };
}
