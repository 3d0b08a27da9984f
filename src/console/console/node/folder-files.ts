import { realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readRegularFile } from '#files';
import type { Random } from '#util/random.ts';
import type { SourceFiles } from '../definition-source.ts';

/** The YAML files of a folder, or one file, as sources. Files elsewhere are not read, also not by links. */
export function folderFiles(folder: string, random: Random): SourceFiles {
  const isInside = async (path: string): Promise<boolean> => {
    if (!/\.(?:ya?ml|json)$/.test(path)) return false;
    try {
      const from = relative(await realpath(folder), await realpath(path));
      return (
        from === '' || (!from.startsWith(`..${sep}`) && from !== '..' && resolve(from) !== from)
      );
    } catch {
      return false;
    }
  };
  return {
    async read(path) {
      return (await isInside(path)) ? readRegularFile(path) : undefined;
    },
    async write(path, text) {
      if (!(await isInside(path))) throw new Error(`"${path}" is not in "${folder}"`);
      const target = await realpath(path);
      // Whole or not at all: the runtime reads the file while it is written.
      const draft = join(dirname(target), `.${random.text(8, 'abcdefghijklmnopqrstuvwxyz')}.draft`);
      await writeFile(draft, text);
      await rename(draft, target);
    },
  };
}
