import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goBuild, searchBinaries, withFolderLock } from '../test/support/control-plane/index.ts';

/** Programs of the rig that are written in Go, by the variable that the rig finds them by. */
const goPrograms = { GO_OPERATOR_BIN: 'rig/go-operator', RAW_GO_BIN: 'rig/raw/go' } as const;

export type GoProgram = keyof typeof goPrograms;

/** Which Go program a peer of the rig is or needs; undefined for the others. */
export function goProgramOf(peer: string): GoProgram | undefined {
  if (peer === 'go' || peer === 'go-conditions') return 'GO_OPERATOR_BIN';
  return peer.startsWith('raw-go') ? 'RAW_GO_BIN' : undefined;
}

/**
 * Finds a Go program of the rig (its variable may name one), or builds it into the cache folder, where
 * it is kept by the hash of its sources.
 */
export async function ensureGoProgram(program: GoProgram): Promise<string> {
  const given = process.env[program];
  if (given) return given;
  const sources = fileURLToPath(new URL(goPrograms[program], import.meta.url));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'homeostat', 'bench');
  const path = join(cache, `${program.toLowerCase()}-${process.arch}-${hashOf(sources)}`);
  mkdirSync(cache, { recursive: true });
  await withFolderLock(`${path}.lock`, async () => {
    if (!existsSync(path)) await build(sources, path);
  });
  return path;
}

async function build(sources: string, path: string): Promise<void> {
  const { go } = searchBinaries();
  if (go === undefined) throw new Error(`Expected Go to build ${sources} with, found none`);
  process.stderr.write(`Building ${sources} (once) ...\n`);
  const output = `${path}.${process.pid}`;
  await goBuild({ go, moduleFolder: sources, output, packagePath: '.' });
  renameSync(output, path);
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}
