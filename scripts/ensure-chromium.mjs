// Runs before what needs a browser: installs Debian's Chromium where there is none.
import { spawnSync } from 'node:child_process';
import { chromiumPath } from './chromium-path.mjs';

if (chromiumPath() === undefined) {
  process.stderr.write('Installing chromium ...\n');
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', 'chromium', 'fonts-dejavu-core'],
  ]) {
    const asRoot = process.getuid?.() === 0 ? ['apt-get', ...args] : ['sudo', 'apt-get', ...args];
    const { status } = spawnSync(asRoot[0], asRoot.slice(1), {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) {
      process.stderr.write('Chromium cannot be installed; set HOMEOSTAT_CHROMIUM to its path\n');
      process.exitCode = 1;
      break;
    }
  }
}
