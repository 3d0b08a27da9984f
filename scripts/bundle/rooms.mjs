import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, relative, resolve } from 'node:path';

const source = resolve('src');
/** Also of an alias of package.json. */
const pathOf = (imported, importer) => createRequire(importer).resolve(imported);
const throughDoor =
  /^(import|export) (type )?\{([^}]*)\} from '(#[\w-]+|[.#][^']*\/(?:index|roles)\.ts)';$/gm;
const handedOn = /^export \{([^}]*)\} from '([.#][^']*\.ts)';$/gm;

/**
 * Takes what a file imports through the door of a room (`index.ts`, `roles.ts`) from the file behind the door. esbuild drops what is not used,
 * but places a file by what it could reach: through doors the playground would reach modules of Node, and `validate` load the HTTP client: 75 ms
 * of CPU time and 18 of 102 MiB. It may be done as nothing of `src/` runs at import time, the first file aside.
 */
export function roomsPlugin() {
  return {
    name: 'rooms',
    setup(build) {
      build.onResolve({ filter: /^(?:\..*\.ts|#.*)$/ }, ({ path, importer }) => {
        if (importer.startsWith(source))
          return { path: pathOf(path, importer), sideEffects: false };
      });
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.startsWith(source)) return { contents: withoutDoors(path), loader: 'ts' };
      });
    },
  };
}

function withoutDoors(path) {
  return readFileSync(path, 'utf8').replaceAll(
    throughDoor,
    (_statement, verb, type, names, target) => {
      const lines = (type === undefined ? namesIn(names) : []).map(({ name, as }) => {
        const found = fileBehind(pathOf(target, path), name);
        return `${verb} { ${found.name} as ${as} } from './${relative(dirname(path), found.path)}';`;
      });
      return lines.join(' ');
    },
  );
}

/** The file that declares a name which a door hands on. */
function fileBehind(path, name) {
  for (const [, names, target] of readFileSync(path, 'utf8').matchAll(handedOn)) {
    const found = namesIn(names).find(({ as }) => as === name);
    if (found !== undefined) return fileBehind(pathOf(target, path), found.name);
  }
  return { path, name };
}

/** Without types. */
function namesIn(list) {
  const entries = list.split(',').map((entry) => entry.trim().split(' as '));
  return entries
    .filter(([name]) => name !== '' && !name.startsWith('type '))
    .map(([name, as = name]) => ({ name, as }));
}
