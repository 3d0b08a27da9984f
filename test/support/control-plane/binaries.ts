import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildBinaries } from './build-binaries.ts';
import { type BinaryName, cacheFolder, kubernetesMinor } from './versions.ts';

/** Absolute paths of the binaries that were asked for. */
export type Binaries = Readonly<Partial<Record<BinaryName, string>>>;

/** What is there without building anything. */
export interface BinarySearch {
  readonly found: Binaries;
  readonly missing: readonly BinaryName[];
  /** The `go` command that can build what is missing. */
  readonly go: string | undefined;
}

export const allBinaries: readonly BinaryName[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
];

/**
 * Looks for binaries: `TEST_ASSET_<NAME>` for one of them, the folder `KUBEBUILDER_ASSETS`, the cache
 * of those that were built before.
 */
export function searchBinaries(
  names: readonly BinaryName[] = allBinaries,
  environment: NodeJS.ProcessEnv = process.env,
): BinarySearch {
  const found: Partial<Record<BinaryName, string>> = {};
  for (const name of names) {
    const path = candidates(name, environment).find(isExecutable);
    if (path !== undefined) found[name] = path;
  }
  return {
    found,
    missing: names.filter((name) => found[name] === undefined),
    go: findGo(environment),
  };
}

/**
 * Finds the binaries and builds those that are missing (about five minutes on two cores, once).
 * @throws Error that says what is missing when there is no Go to build with.
 */
export async function ensureBinaries(
  names: readonly BinaryName[] = allBinaries,
): Promise<Binaries> {
  const { found, missing, go } = searchBinaries(names);
  if (missing.length === 0) return found;
  if (go === undefined) throw new Error(missingBinariesMessage(missing));
  const folder = cacheFolder(process.env);
  await buildBinaries({ go, folder, names: missing, minor: kubernetesMinor(process.env) });
  return { ...found, ...Object.fromEntries(missing.map((name) => [name, join(folder, name)])) };
}

/** What a person without binaries and without Go has to do. */
export function missingBinariesMessage(missing: readonly BinaryName[]): string {
  return [
    `No control plane: ${missing.join(', ')} not found, and no Go to build with.`,
    'Install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder with the binaries,',
    `or ${missing.map(assetVariable).join(', ')} to each of them.`,
  ].join(' ');
}

function candidates(name: BinaryName, environment: NodeJS.ProcessEnv): readonly string[] {
  const own = environment[assetVariable(name)];
  const assets = environment.KUBEBUILDER_ASSETS;
  const cached = join(cacheFolder(environment), name);
  // A path given for this very binary is taken or rejected, never silently passed over.
  if (own && !isExecutable(own)) {
    throw new Error(`Expected an executable in ${assetVariable(name)}, found "${own}"`);
  }
  if (own) return [own];
  return assets ? [join(assets, name), cached] : [cached];
}

function assetVariable(name: BinaryName): string {
  return `TEST_ASSET_${name.toUpperCase().replaceAll(/[-.]/g, '_')}`;
}

function findGo(environment: NodeJS.ProcessEnv): string | undefined {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders, '/usr/local/go/bin'].map((folder) => join(folder, 'go')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
