import { readFileSync } from 'node:fs';

const emptyMap = JSON.stringify({ version: 3, sources: [''], names: [], mappings: 'AAAA' });
const noMap = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(emptyMap).toString('base64')}`;

/**
 * The source maps name the files of packages and tables without their lines, which would be half of the maps, 2.7 MB of a package that may
 * have 14 MB. Lines of our own sources stay.
 */
export function ownMapsPlugin() {
  return {
    name: 'own-maps',
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
        contents: `${readFileSync(path, 'utf8')}\n${noMap}`,
        loader: 'js',
      }));
      build.onLoad({ filter: /\.generated\.json$/ }, ({ path }) => ({
        contents: `export default ${readFileSync(path, 'utf8')};\n${noMap}`,
        loader: 'js',
      }));
    },
  };
}
