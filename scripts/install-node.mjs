// Runs after `npm ci` (`prepare`), under the Node that the user has. Makes `node_modules/.bin/node` a Node 24:
// a link to the user's own, or to one that is downloaded as a package of npm once per machine (docs/decisions/0005).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const major = '24';
const version = '24.21.0';
/** The integrity of the package by platform. There is none of this version for macOS. */
const packages = {
  'linux-x64':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'linux-arm64':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problem = installNode();
  if (problem !== undefined) {
    process.stderr.write(`homeostat: ${problem}\n`);
    process.exitCode = 1;
  }
}

/**
 * Makes the link, unless it leads to a Node 24 already. Returns what went wrong, if anything.
 * @param {object} [options]
 * @param {string} [options.link]
 * @param {string} [options.cache] the folder that keeps what is downloaded
 * @param {{ version: string, path: string, platform: string }} [options.own] the Node of the user
 */
export function installNode({
  link = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url)),
  cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'homeostat', 'node'),
  own = {
    version: process.versions.node,
    path: process.execPath,
    platform: `${process.platform}-${process.arch}`,
  },
} = {}) {
  if (isRightMajor(versionOf(link))) return undefined;
  if (isRightMajor(own.version)) return linkTo(own.path, link);
  const integrity = packages[own.platform];
  if (integrity === undefined)
    return `Expected Node ${major}, found ${own.version}, and there is no package of it for ${own.platform}: install Node ${major}`;
  // The file is called "node", as tools look at the name of the process.
  const binary = join(cache, `${version}-${own.platform}`, 'node');
  const problem = existsSync(binary)
    ? undefined
    : download({ name: `node-${own.platform}`, integrity, binary });
  return problem ?? linkTo(binary, link);
}

function isRightMajor(found) {
  return found.startsWith(`${major}.`);
}

/** Empty when there is no such program. */
function versionOf(program) {
  const { stdout } = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  return stdout ?? '';
}

function linkTo(target, link) {
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

/** Takes the binary alone out of the package. */
function download({ name, integrity, binary }) {
  process.stderr.write(`Downloading Node ${version}, once per machine ...\n`);
  mkdirSync(dirname(binary), { recursive: true });
  // Beside the binary, so that the last step is a rename: two installations at once do not disturb each other.
  const folder = mkdtempSync(join(dirname(binary), 'download-'));
  try {
    // `npm ci --dry-run` and others hand their flags down.
    const flags = ['--pack-destination', folder, '--loglevel=error', '--dry-run=false'];
    if (!ran('npm', ['pack', `${name}@${version}`, ...flags])) return `npm cannot download ${name}`;
    const archive = join(folder, `${name}-${version}.tgz`);
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity)
      return `Expected the integrity "${integrity}" of ${name}@${version}, found "${found}"`;
    if (!ran('tar', ['-xzf', archive, '-C', folder, 'package/bin/node']))
      return `tar cannot unpack ${archive}`;
    renameSync(join(folder, 'package', 'bin', 'node'), binary);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function ran(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
