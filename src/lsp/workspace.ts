import { basename, dirname } from 'node:path';
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
 * An editor without a folder has single files; then the server reads beside them.
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
    if (this.#folders.size > 0) return [...this.#folders];
    return documents.map((path) => {
      const folder = dirname(path);
      return partFolders.has(basename(folder)) ? dirname(folder) : folder;
    });
  }
}

function pathsOf(folders: readonly ProtocolFolder[]): readonly string[] {
  return folders.flatMap(({ uri }) => pathOf(uri) ?? []);
}
