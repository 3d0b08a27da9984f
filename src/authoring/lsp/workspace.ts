import { basename, dirname, sep } from 'node:path';
import { pathOf } from './open-document.ts';

/** A folder of an editor, as the protocol has it. */
interface ProtocolFolder {
  readonly uri: string;
}

/** What an editor says about its folders at the start. */
export interface InitialFolders {
  readonly workspaceFolders?: readonly ProtocolFolder[] | null;
  readonly rootUri?: string | null;
}

/** Folders below their definitions. */
const partFolders: ReadonlySet<string> = new Set(['samples', 'tests']);

/**
 * The folders whose files the server reads: those that the editor has open. The folder that the process was started in may be any.
 * A document outside of all folders is a single file; then the server reads beside it.
 */
export class WorkspaceFolders {
  readonly #folders = new Set<string>();

  open({ workspaceFolders, rootUri }: InitialFolders): void {
    const root = rootUri ? [{ uri: rootUri }] : [];
    this.change(workspaceFolders ?? root, []);
  }

  change(added: readonly ProtocolFolder[], removed: readonly ProtocolFolder[]): void {
    for (const path of pathsOf(removed)) this.#folders.delete(path);
    for (const path of pathsOf(added)) this.#folders.add(path);
  }

  /** The folders that may be read for these documents. */
  readable(documents: readonly string[]): readonly string[] {
    const folders = [...this.#folders].map(withDefinitions);
    const single = documents.filter((path) => !folders.some((folder) => isBelow(path, folder)));
    return [...folders, ...single.map((path) => withDefinitions(dirname(path)))];
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** The folder of the definitions that samples and tests in a folder belong to. */
function withDefinitions(folder: string): string {
  return partFolders.has(basename(folder)) ? dirname(folder) : folder;
}

function pathsOf(folders: readonly ProtocolFolder[]): readonly string[] {
  return folders.flatMap(({ uri }) => pathOf(uri) ?? []);
}
