// Bundles the playground: static files with hashed names, and the page that names them.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { recipePages } from '../../test/support/recipes/recipe-page.ts';
import { definitionCheckPlugin } from './definition-check.mjs';
import { thirdPartyNotices } from './notices.mjs';
import { roomsPlugin } from './rooms.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url)));

/** Nothing but files of the same server, no inline script, no inline style, no evaluation of texts. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Files of the playground by name. Source maps are apart: no file refers to them. */
export async function bundlePlayground() {
  const shared = {
    absWorkingDir: root,
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    sourcemap: 'external',
    sourcesContent: false,
    platform: 'browser',
    target: 'es2024',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
    // A module of Node is not found, and fails the build.
    plugins: [roomsPlugin(), definitionCheckPlugin()],
  };
  const [page, worker] = await Promise.all([
    build({
      ...shared,
      entryPoints: ['src/console/playground/main.ts', 'src/console/web/console.css'],
    }),
    build({
      ...shared,
      entryPoints: ['src/console/playground/worker.ts'],
      define: { homeostatVersion: JSON.stringify(version) },
    }),
  ]);
  const examples = hashedFile('examples', 'json', JSON.stringify(readExamples()));
  const built = [...page.outputFiles, ...worker.outputFiles].map(({ path, contents }) => ({
    name: basename(path),
    content: Buffer.from(contents),
  }));
  const maps = built.filter(({ name }) => name.endsWith('.map'));
  const assets = [...built.filter(({ name }) => !name.endsWith('.map')), examples];
  const named = (pattern) => `assets/${assets.find(({ name }) => pattern.test(name)).name}`;
  const index = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Homeostat playground</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${named(/^console-.*\.css$/)}">
<script type="module" src="${named(/^main-.*\.js$/)}"></script>
</head>
<body><div id="console" data-worker="${named(/^worker-.*\.js$/)}" data-examples="assets/${examples.name}"></div></body>
</html>
`;
  const metafile = { outputs: { ...page.metafile.outputs, ...worker.metafile.outputs } };
  return {
    files: [
      { name: 'index.html', content: Buffer.from(index) },
      { name: 'THIRD-PARTY-NOTICES.txt', content: Buffer.from(thirdPartyNotices(metafile)) },
      ...assets.map((file) => ({ ...file, name: `assets/${file.name}` })),
    ],
    maps,
  };
}

/** Size of all files that a page may load, as servers send them. */
export function loadedSizes(files) {
  const loaded = files.filter(({ name }) => !name.endsWith('.txt'));
  const sum = (compress) =>
    loaded.reduce((total, { content }) => total + compress(content).length, 0);
  return {
    plain: sum((content) => content),
    gzip: sum((content) => gzipSync(content, { level: 9 })),
    brotli: sum((content) => brotliCompressSync(content)),
  };
}

/** The shipped operators with their samples, and the recipes. */
export function readExamples() {
  const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const titles = new Map(
    [
      ...read('operators/README.md').matchAll(
        /^\| \[([a-z-]+)\]\(#[a-z-]+\) \| `\w+` \| (.+) \|$/gm,
      ),
    ].map(([, name, title]) => [name, title.replaceAll('`', '')]),
  );
  const operators = readdirSync(new URL('../../operators', import.meta.url))
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const name = basename(file, '.yaml');
      const title = titles.get(name);
      if (title === undefined) throw new Error(`operators/README.md does not list "${name}"`);
      return exampleOf('operators', { name, title }, [
        read(`operators/${file}`),
        read(`operators/samples/${file}`),
      ]);
    });
  const recipes = recipePages().map((page) =>
    exampleOf('recipes', page, [page.definition, page.sample]),
  );
  return [...operators, ...recipes];
}

function exampleOf(group, { name, title }, [definition, sample]) {
  const files = [
    { file: `${name}.yaml`, text: definition },
    { file: `samples/${name}.yaml`, text: sample },
  ];
  return { group, name, title, files };
}

function hashedFile(name, extension, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
  return { name: `${name}-${hash}.${extension}`, content: Buffer.from(text) };
}
