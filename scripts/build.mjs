// Bundles the CLI, `dist/homeostat.mjs`, and the library, `dist/index.mjs` with its declarations. Beside them are the chunks that they load when
// a command or a function is called.
import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { definitionCheckPlugin } from './bundle/definition-check.mjs';
import { thirdPartyNotices } from './bundle/notices.mjs';
import { builtinsPlugin, jsonPlugin, ownMapsPlugin, partsPlugin } from './bundle/parts.mjs';
import { roomsPlugin } from './bundle/rooms.mjs';

const { metafile } = await build({
  entryPoints: [
    { in: 'src/cli/homeostat.ts', out: 'homeostat' },
    { in: 'src/library/index.ts', out: 'index' },
  ],
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  bundle: true,
  metafile: true,
  platform: 'node',
  target: 'node22.19',
  format: 'esm',
  minifySyntax: true,
  // Not for the size of the files: V8 keeps the text of a source as long as it runs, with two bytes for each character if one comment holds a curly quote.
  // Names stay, and lines are short enough that a stack trace is of use; with --enable-source-maps it names the sources.
  minifyWhitespace: true,
  lineLimit: 160,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'linked',
  logLevel: 'warning',
  // undici looks at it, and leaves out a second parser of HTTP.
  define: { esbuildDetection: 'true' },
  plugins: [
    partsPlugin(),
    builtinsPlugin(),
    roomsPlugin(),
    jsonPlugin(),
    ownMapsPlugin(),
    definitionCheckPlugin(),
  ],
  // CommonJS packages in an ES module still ask for `require`.
  banner: {
    js: `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);`,
  },
});

const outputs = Object.keys(metafile.outputs);
removeOthers('dist', new Set(outputs));
const modules = outputs.filter((path) => path.endsWith('.mjs'));
for (const path of modules) assertOneByte(path);
writeFileSync('dist/THIRD-PARTY-NOTICES.txt', thirdPartyNotices(metafile));
chmodSync('dist/homeostat.mjs', 0o755);
copyFileSync('src/library/api.ts', 'dist/index.d.mts');
const bytes = modules.reduce((sum, path) => sum + statSync(path).size, 0);
console.log(
  `dist/homeostat.mjs, dist/index.mjs and ${modules.length - 2} chunks, ${(bytes / 1e6).toFixed(1)} MB`,
);

/** Chunks of earlier builds. Last, so that a command that runs meanwhile finds its own. */
function removeOthers(folder, kept) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(path)) rmSync(path);
  }
}

function assertOneByte(path) {
  const text = readFileSync(path, 'utf8');
  const at = text.search(/[^\0-\xff]/);
  if (at === -1) return;
  const excerpt = text.slice(Math.max(0, at - 40), at + 40);
  throw new Error(`${path} holds a character beyond Latin-1, which doubles it: "${excerpt}"`);
}
