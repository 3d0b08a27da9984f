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
    // An older Node would fail somewhere in a package, with a stack trace. CommonJS packages in an ES module still ask for `require`.
    js: `#!/usr/bin/env node
import { createRequire as homeostatRequire } from 'node:module';
const [homeostatMajor, homeostatMinor] = process.versions.node.split('.').map(Number);
if (homeostatMajor < 22 || (homeostatMajor === 22 && homeostatMinor < 19)) {
  process.stderr.write('homeostat: Needs Node 22.19 or newer, found ' + process.versions.node + '\\n');
  process.exit(2);
}
const require = homeostatRequire(import.meta.url);`,
  },
});
chmodSync(outfile, 0o755);
console.log(`${outfile} ${(statSync(outfile).size / 1e6).toFixed(1)} MB`);
