import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file that only its owner can read, so that whoever is killed meanwhile leaves the old text or the new one, never half.
 * One call for a path at a time.
 * @throws Error of `node:fs`; then the old file is as it was.
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  // Always the same name: what somebody left who was killed is overwritten.
  const draft = join(folder, `.${basename(path)}.tmp`);
  try {
    await writeThrough(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/**
 * Makes a folder and those above it, where they are not there.
 * @throws Error of `node:fs`
 */
export async function makeFolder(path: string): Promise<void> {
  // Folder by folder: Node's own recursive way never ends where a file system denies that there could be one (`/proc`).
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The text must be on the disk before the name points to it. */
async function writeThrough(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
