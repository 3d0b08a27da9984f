import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';

/**
 * Whether paths are below one of these folders, or one of them, also where links lead. A path that does not exist is taken as it is written.
 * @param folders undefined: there is no limit
 */
export function insideOf(
  folders: readonly string[] | undefined,
): (path: string) => Promise<boolean> {
  if (folders === undefined) return async () => true;
  const tree = Promise.all(folders.map(realPath));
  return async (path) => {
    const real = await realPath(path);
    return (await tree).some((folder) => {
      const from = relative(folder, real);
      return from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from);
    });
  };
}

function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
