import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

const source = resolve('src');
/** What is taken through a door, and what a door hands on. */
const throughDoor =
  /^(import|export) (type )?\{([^}]*)\} from '(\.[^']*\/(?:index|roles)\.ts)';$/gm;
const handedOn = /^export \{([^}]*)\} from '(\.[^']*\.ts)';$/gm;

/**
 * Takes what a file imports through the door of a room (`index.ts`, `roles.ts`) from the file behind the door. esbuild drops what is not used,
 * but places a file by what it could reach: through the door of `runtime` the command `validate` would load the HTTP client.
 * It may be done as nothing of `src/` runs at import time, the first file aside.
 */
export function roomsPlugin() {
  return {
    name: 'rooms',
    setup(build) {
      build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, importer }) =>
        importer.startsWith(source)
          ? { path: resolve(dirname(importer), path), sideEffects: false }
          : undefined,
      );
      build.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        path.startsWith(source) ? { contents: withoutDoors(path), loader: 'ts' } : undefined,
      );
    },
  };
}

function withoutDoors(path) {
  return readFileSync(path, 'utf8').replaceAll(
    throughDoor,
    (_statement, verb, type, names, target) => {
      if (type !== undefined) return '';
      return namesIn(names)
        .map(({ name, as }) => {
          const found = fileBehind(resolve(dirname(path), target), name);
          const from = relative(dirname(path), found.path);
          return `${verb} { ${found.name} as ${as} } from './${from}';`;
        })
        .join(' ');
    },
  );
}

/** The file that declares a name which a door hands on. */
function fileBehind(path, name) {
  for (const [, names, target] of readFileSync(path, 'utf8').matchAll(handedOn)) {
    const found = namesIn(names).find(({ as }) => as === name);
    if (found !== undefined) return fileBehind(resolve(dirname(path), target), found.name);
  }
  return { path, name };
}

/** `type A, b, c as d` without the types. */
function namesIn(list) {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !entry.startsWith('type '))
    .map((entry) => entry.split(' as '))
    .map(([name, as = name]) => ({ name, as }));
}
