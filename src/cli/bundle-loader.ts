import { ChunkLoader } from './chunk-loader.ts';

declare const smallChunks: string;

/**
 * The loader of the bundle's chunks. The stored code is beside the bundle because users who can write there can change the bundle, too.
 * @param folder of the bundle
 * @param name of the stored code
 */
export function createBundleLoader(folder: string, name: string): ChunkLoader {
  const { version, arch } = process;
  return new ChunkLoader({
    folder: `${folder}/chunks`,
    smallChunks,
    codeFile: `${folder}/compile-cache/${version}-${arch}/${name}`,
    hasSourceMaps: process.sourceMapsEnabled,
    getBuiltinModule: process.getBuiltinModule,
  });
}
