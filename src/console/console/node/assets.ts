import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the web application. */
export interface Asset {
  readonly type: string;
  readonly content: Uint8Array;
}

/** The files of the web application by name; `index.html` is the page. */
export type Assets = ReadonlyMap<string, Asset>;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
};

/**
 * Loads the web application: in the package it is built, beside the bundle; from source it is bundled now.
 * @throws Error when there is neither
 */
export async function loadAssets(): Promise<Assets> {
  for (const folder of ['./console/', '../console/']) {
    const found = await readFolder(new URL(folder, import.meta.url));
    if (found !== undefined) return found;
  }
  // By a computed path, so that the bundle of the package does not hold the bundler.
  const script = fileURLToPath(new URL('../../../../scripts/bundle/web.mjs', import.meta.url));
  const { bundleWeb } = createRequire(import.meta.url)(script) as {
    bundleWeb(): Promise<readonly { readonly name: string; readonly content: Uint8Array }[]>;
  };
  return new Map((await bundleWeb()).map(({ name, content }) => [name, assetOf(name, content)]));
}

/** Undefined: the folder does not hold a built application. */
async function readFolder(folder: URL): Promise<Assets | undefined> {
  const path = fileURLToPath(folder);
  const names = await readdir(path).catch((): string[] => []);
  if (!names.includes('index.html')) return undefined;
  const files = await Promise.all(
    names.map(
      async (name) => [name, assetOf(name, await readFile(new URL(name, folder)))] as const,
    ),
  );
  return new Map(files);
}

function assetOf(name: string, content: Uint8Array): Asset {
  return { type: types[extname(name)] ?? 'application/octet-stream', content };
}
