// Runs before the npm scripts, under whatever Node the user has: installs the packages of the lock
// file (Node 24 is one of them) when they are missing or older than the lock file.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const installed = `${root}node_modules/.package-lock.json`;
const fresh =
  existsSync(installed) &&
  existsSync(`${root}node_modules/.bin/node`) &&
  statSync(installed).mtimeMs >= statSync(`${root}package-lock.json`).mtimeMs;

if (!fresh) {
  process.stderr.write('Installing the packages of package-lock.json ...\n');
  const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
