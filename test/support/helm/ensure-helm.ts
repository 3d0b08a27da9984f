import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goBuild, searchBinaries, withFolderLock } from '../control-plane/index.ts';

const moduleFolder = fileURLToPath(new URL('go-module', import.meta.url));

/** The release, as its `go.mod` says: `v4.3.1`. */
export function helmVersion(): string {
  const text = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
  const version = /^require helm\.sh\/helm\/v4 (v\S+)$/m.exec(text)?.[1];
  if (version === undefined) throw new Error('Expected the version of helm in its go.mod');
  return version;
}

/**
 * The `helm` of the machine's cache, or of `TEST_ASSET_HELM`; built from its Go module where it is not there (some minutes, once).
 * Undefined: it is not there, and neither is Go.
 */
export async function ensureHelm(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const found = findHelm(environment);
  if (found !== undefined) return found;
  const folder = cacheFolder(environment);
  const path = join(folder, 'helm');
  const { go } = searchBinaries();
  if (go === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  await withFolderLock(join(folder, '.lock'), () => build(go, path));
  return path;
}

/** The same without building anything. */
export function findHelm(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const given = environment.TEST_ASSET_HELM;
  if (given) return given;
  const path = join(cacheFolder(environment), 'helm');
  return existsSync(path) ? path : undefined;
}

/** By rename, so that a binary that is there is whole. */
async function build(go: string, path: string): Promise<void> {
  if (existsSync(path)) return;
  const temporary = mkdtempSync(`${path}-build-`);
  try {
    process.stderr.write('Building helm (once) ...\n');
    const output = join(temporary, 'helm');
    await goBuild({ go, moduleFolder, output, packagePath: 'helm.sh/helm/v4/cmd/helm' });
    renameSync(output, path);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const root = environment.XDG_CACHE_HOME || join(homedir(), '.cache');
  const name = `${helmVersion()}-${process.platform}-${process.arch}`;
  return join(root, 'homeostat', 'helm', name);
}
