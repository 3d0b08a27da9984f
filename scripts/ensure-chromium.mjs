// Installs Debian's Chromium where there is none: for the console in a browser. Also a program, for npm scripts.
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { chromiumPath } from './chromium-path.mjs';

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = ensureChromium() ? 0 : 1;

/** False: it cannot be installed, which standard error reports. */
export function ensureChromium() {
  if (chromiumPath() !== undefined) return true;
  process.stderr.write('Installing chromium ...\n');
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', 'chromium', 'fonts-dejavu-core'],
  ]) {
    const asRoot = process.getuid?.() === 0 ? ['apt-get', ...args] : ['sudo', 'apt-get', ...args];
    const { status } = spawnSync(asRoot[0], asRoot.slice(1), {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status === 0) continue;
    process.stderr.write('Chromium cannot be installed; set HOMEOSTAT_CHROMIUM to its path\n');
    return false;
  }
  return true;
}
