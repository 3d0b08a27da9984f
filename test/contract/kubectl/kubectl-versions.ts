import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureBinaries } from '../../support/control-plane/index.ts';

/** A kubectl that the script is run with. */
export interface KubectlVersion {
  /** What it is to us: `newest`, `oldest`, `installed`. */
  readonly name: string;
  /** Its path; it may have to be built first. */
  binary(): Promise<string>;
}

/** The one of the machine; undefined where it has none, and with `CI=true`: there only what was built says something. */
export function installedKubectl({ PATH = '', CI }: NodeJS.ProcessEnv): KubectlVersion | undefined {
  if (CI === 'true') return undefined;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, 'kubectl')).find((path) => existsSync(path));
  return found === undefined ? undefined : { name: 'installed', binary: async () => found };
}

/** Those that are always compared: the newest and the oldest that the sandbox promises to serve. */
export const builtKubectls: readonly KubectlVersion[] = [
  { name: 'newest', binary: () => built('kubectl') },
  { name: 'oldest', binary: () => built('kubectl-1.29') },
];

async function built(name: 'kubectl' | 'kubectl-1.29'): Promise<string> {
  const { [name]: path } = await ensureBinaries([name]);
  if (path === undefined) throw new Error(`Expected ${name} to be built`);
  return path;
}
