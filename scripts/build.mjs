// Bundles the CLI into one file: `dist/homeostat.mjs`, the package's `bin`.
import { chmodSync, statSync } from 'node:fs';
import { build } from 'esbuild';

const outfile = 'dist/homeostat.mjs';
await build({
  entryPoints: ['src/cli/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node22.19',
  format: 'esm',
  minifySyntax: true,
  legalComments: 'linked',
  logLevel: 'warning',
  banner: {
    // CommonJS packages in an ES module bundle still ask for `require`.
    js: "#!/usr/bin/env node\nimport { createRequire as homeostatRequire } from 'node:module';\nconst require = homeostatRequire(import.meta.url);",
  },
});
chmodSync(outfile, 0o755);
console.log(`${outfile} ${(statSync(outfile).size / 1e6).toFixed(1)} MB`);
