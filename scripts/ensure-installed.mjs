// Runs first in the npm scripts, under whatever Node the user has. Installs the packages of the lock file, and Node 24, when they are missing
// or not those of the lock file; with `--check` it only says so. What is compared is what the files say, not their times: a checkout gives
// every file a new one.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installNode } from './install-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

if (isInstalled()) fail(installNode());
else if (process.argv.includes('--check'))
  fail('packages are missing, or not those of package-lock.json; run "npm ci"');
else {
  process.stderr.write('Installing the packages of package-lock.json ...\n');
  const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

/** Undefined: nothing is wrong. */
function fail(problem) {
  if (problem === undefined) return;
  process.stderr.write(`homeostat: ${problem}\n`);
  process.exitCode = 1;
}

function isInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  if (installed === undefined) return false;
  // Optional packages are those of other platforms.
  return Object.entries(packagesOf('package-lock.json') ?? {}).every(
    ([path, { version, optional = false }]) => {
      if (path === '') return true;
      return path in installed ? installed[path].version === version : optional;
    },
  );
}

/** What a lock file names, by path; undefined when it is not there. */
function packagesOf(file) {
  if (!existsSync(root + file)) return undefined;
  return JSON.parse(readFileSync(root + file, 'utf8')).packages;
}
