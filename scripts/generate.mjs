// Writes all generated files: runs every script `generate:...` of package.json, in its order. With --check they only compare.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

for (const [name, command] of Object.entries(scripts)) {
  if (!name.startsWith('generate:')) continue;
  const [, file] = command.split(' ');
  const { status } = spawnSync(process.execPath, [file, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
