// Bundles the console for the browser: the files of `dist/console` with hashed names, and the page that names them.

import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files by name, in memory. `metafile` is esbuild's, for licenses. */
export async function bundleWebFiles() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/console/web/main.ts', 'src/console/web/console.css'],
    outdir: 'console',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    target: 'es2024',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const files = outputFiles.map(({ path, contents }) => ({
    name: basename(path),
    content: contents,
  }));
  const named = (pattern) => files.find(({ name }) => pattern.test(name)).name;
  const main = named(/^main-.*\.js$/);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Homeostat</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/${named(/^console-.*\.css$/)}">
${importsOf(metafile, main)
  .map((name) => `<link rel="modulepreload" href="assets/${name}">`)
  .join('\n')}
<script type="module" src="assets/${main}"></script>
</head>
<body><div id="console"></div></body>
</html>
`;
  return { files: [...files, { name: 'index.html', content: Buffer.from(page) }], metafile };
}

/** The files that a file imports at once: the browser loads them beside it, not after it. */
function importsOf({ outputs }, name) {
  const found = Object.entries(outputs).find(([path]) => basename(path) === name);
  const imports = found?.[1].imports ?? [];
  return imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => basename(path));
}

/** For a run from source. */
export async function bundleWeb() {
  return (await bundleWebFiles()).files;
}
