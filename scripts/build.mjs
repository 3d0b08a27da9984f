// Bundles the CLI, `dist/homeostat.mjs`, and the library, `dist/index.mjs` with its declarations. Beside them are the chunks that they load when
// a command or a function is called.
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { definitionCheckPlugin } from './bundle/definition-check.mjs';
import { leftOutPlugin } from './bundle/left-out.mjs';
import { thirdPartyNotices } from './bundle/notices.mjs';
import { ownMapsPlugin } from './bundle/own-maps.mjs';
import { roomsPlugin } from './bundle/rooms.mjs';
import { bundleWebFiles } from './bundle/web.mjs';

rmSync('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [
    { in: 'src/cli/homeostat.ts', out: 'homeostat' },
    { in: 'src/cli/worker.ts', out: 'worker' },
    { in: 'src/authoring/library/index.ts', out: 'index' },
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
  // Packages that are CommonJS modules require those of Node.
  banner: {
    js: `import{createRequire as requireFrom_}from'node:module';const require=requireFrom_(import.meta.url);`,
  },
  minifySyntax: true,
  // V8 keeps the text of a source as long as it runs, with two bytes for each character if one comment holds a curly quote. Names stay, and lines
  // are short enough that a stack trace is of use; with --enable-source-maps it names the sources.
  minifyWhitespace: true,
  lineLimit: 160,
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  // undici looks at it, and leaves out a second parser of HTTP.
  define: { esbuildDetection: 'true' },
  plugins: [leftOutPlugin(), ownMapsPlugin(), roomsPlugin(), definitionCheckPlugin()],
});
const web = await bundleWebFiles();
mkdirSync('dist/console');
for (const { name, content } of web.files) writeFileSync(`dist/console/${name}`, content);
const outputs = { ...metafile.outputs, ...web.metafile.outputs };
writeFileSync('dist/THIRD-PARTY-NOTICES.txt', thirdPartyNotices({ outputs }));
chmodSync('dist/homeostat.mjs', 0o755);
copyFileSync('src/authoring/library/api.ts', 'dist/index.d.mts');
const code = Object.entries(metafile.outputs).filter(([path]) => path.endsWith('.mjs'));
const bytes = code.reduce((sum, [, output]) => sum + output.bytes, 0);
console.log(
  `dist/homeostat.mjs, dist/index.mjs and ${code.length - 2} other files, ${(bytes / 1e6).toFixed(1)} MB`,
);
