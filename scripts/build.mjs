// Bundles the CLI, `dist/homeostat.mjs`, and the library, `dist/index.mjs` with its declarations. Beside them are the chunks that they load when
// a command or a function is called.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { asScript } from './bundle/chunks.mjs';
import { definitionCheckPlugin } from './bundle/definition-check.mjs';
import { thirdPartyNotices } from './bundle/notices.mjs';
import {
  builtinsPlugin,
  celPlugin,
  jsonPlugin,
  noMap,
  ownMapsPlugin,
  partsPlugin,
} from './bundle/parts.mjs';
import { roomsPlugin } from './bundle/rooms.mjs';
import { joinSmallChunks } from './bundle/small-chunks.mjs';
import { bundleWebFiles } from './bundle/web.mjs';
import { yamlPlugin } from './bundle/yaml-without-generators.ts';

const target = 'node22.19';

const { metafile, outputFiles } = await build({
  entryPoints: [
    { in: 'src/cli/homeostat.ts', out: 'homeostat' },
    { in: 'src/cli/worker.ts', out: 'worker' },
    { in: 'src/library/index.ts', out: 'index' },
  ],
  outdir: 'dist/chunks',
  outExtension: { '.js': '.cjs' },
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  bundle: true,
  metafile: true,
  write: false,
  platform: 'node',
  target,
  format: 'esm',
  minifySyntax: true,
  // Not for the size of the files: V8 keeps the text of a source as long as it runs, with two bytes for each character if one comment holds a curly quote.
  // Names stay, and lines are short enough that a stack trace is of use; with --enable-source-maps it names the sources.
  minifyWhitespace: true,
  lineLimit: 160,
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  // undici looks at it, and leaves out a second parser of HTTP.
  define: { esbuildDetection: 'true' },
  plugins: [
    partsPlugin(),
    celPlugin(),
    builtinsPlugin(),
    roomsPlugin(),
    jsonPlugin(),
    yamlPlugin(noMap),
    ownMapsPlugin(),
    definitionCheckPlugin(),
  ],
});

mkdirSync('dist/chunks', { recursive: true });
const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
const maps = new Map([...texts].filter(([name]) => name.endsWith('.map')));
const chunks = new Map(
  [...texts]
    .filter(([name]) => !maps.has(name))
    .map(([name, text]) => [name, asScript(name, text)]),
);
const small = joinSmallChunks(chunks, maps);
for (const name of small.names) {
  chunks.delete(name);
  maps.delete(`${name}.map`);
}
chunks.set(small.name, small.text);
maps.set(`${small.name}.map`, small.map);
const written = new Map();
for (const [name, text] of chunks)
  written.set(`dist/chunks/${name}`, `${text}//# sourceMappingURL=${name}.map\n`);
for (const [name, text] of maps) written.set(`dist/chunks/${name}`, text);
for (const [name, text] of Object.entries(await entries())) written.set(`dist/${name}`, text);
const web = await bundleWebFiles();
mkdirSync('dist/console', { recursive: true });
for (const { name, content } of web.files) written.set(`dist/console/${name}`, content);
const all = { outputs: { ...metafile.outputs, ...web.metafile.outputs } };
written.set('dist/THIRD-PARTY-NOTICES.txt', thirdPartyNotices(all));
for (const [path, text] of written) writeFileSync(path, text);
chmodSync('dist/homeostat.mjs', 0o755);
copyFileSync('src/library/api.ts', 'dist/index.d.mts');
removeOthers('dist', new Set([...written.keys(), 'dist/index.d.mts']));
const code = [...written].filter(([path]) => /\.[cm]js$/.test(path));
for (const [path, text] of code) assertOneByte(path, text);
const bytes = code.reduce((sum, [, text]) => sum + text.length, 0);
console.log(
  `dist/homeostat.mjs, dist/index.mjs and ${code.length - 3} chunks, ${(bytes / 1e6).toFixed(1)} MB`,
);

/** The modules that load the chunks. */
async function entries() {
  const [command, worker, library] = ['homeostat', 'worker', 'index'].map((name) => {
    const [path, { exports }] = Object.entries(metafile.outputs).find(
      ([each]) => each.startsWith(`dist/chunks/${name}-`) && each.endsWith('.cjs'),
    );
    return { chunk: basename(path), exports };
  });
  const loadLibrary = `import { ChunkLoader } from './src/cli/chunk-loader.ts';
const { getBuiltinModule, sourceMapsEnabled: hasSourceMaps } = process;
const folder = \`\${import.meta.dirname}/chunks\`;
const smallChunks = '${small.name}';
const loader = new ChunkLoader({ folder, smallChunks, hasSourceMaps, getBuiltinModule });
export const { ${library.exports.join(', ')} } = loader.load('${library.chunk}');`;
  const [entry, thread, index] = await Promise.all(
    [
      { entryPoints: ['src/cli/bundle-entry.ts'] },
      { entryPoints: ['src/cli/bundle-worker.ts'] },
      { stdin: { contents: loadLibrary, resolveDir: '.', loader: 'ts' } },
    ].map((input) =>
      build({
        ...input,
        define: {
          entryChunk: JSON.stringify(command.chunk),
          workerChunk: JSON.stringify(worker.chunk),
          smallChunks: JSON.stringify(small.name),
        },
        bundle: true,
        write: false,
        platform: 'node',
        target,
        format: 'esm',
        minifySyntax: true,
        minifyWhitespace: true,
        lineLimit: 160,
        logLevel: 'warning',
      }),
    ),
  );
  return {
    'homeostat.mjs': `#!/usr/bin/env node\n${entry.outputFiles[0].text}`,
    'worker.mjs': thread.outputFiles[0].text,
    'index.mjs': index.outputFiles[0].text,
  };
}

/** Chunks of earlier builds, and their stored code. Last, so that a command that runs meanwhile finds its own. */
function removeOthers(folder, kept) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(path)) rmSync(path);
  }
}

function assertOneByte(path, text) {
  const at = text.search(/[^\0-\xff]/);
  if (at === -1) return;
  const excerpt = text.slice(Math.max(0, at - 40), at + 40);
  throw new Error(`${path} holds a character beyond Latin-1, which doubles it: "${excerpt}"`);
}
