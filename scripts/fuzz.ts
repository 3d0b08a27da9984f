// `npm run fuzz [-- COUNT [SEED]]`: random resources of all shipped operators and of the recipes. Exit code 1 when a history fails.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzzClusters } from '#cli/commands/fuzz.ts';
import { createTerminalOutput } from '#cli/output.ts';
import { recipePages } from '../test/support/recipes/index.ts';

const [count = '20', seed = '1'] = process.argv.slice(2);
const output = createTerminalOutput(process);
const flags = { fuzz: Number(count), seed: Number(seed) };
const limits = readFileSync(new URL('../test/fixtures/recipe-fuzz.yaml', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'homeostat-fuzz-'));
try {
  const clusters = [['operators'], ['operators/clusters']];
  for (const { name, definition, sample } of recipePages()) {
    const place = join(folder, name);
    for (const [file, text] of [
      [`${name}.yaml`, definition],
      [`samples/${name}.yaml`, sample],
      ['tests/fuzz.yaml', limits],
    ] as const) {
      mkdirSync(join(place, file, '..'), { recursive: true });
      writeFileSync(join(place, file), text);
    }
    clusters.push([place]);
  }
  process.exitCode = await fuzzClusters(clusters, flags, output, new AbortController().signal);
} finally {
  rmSync(folder, { recursive: true });
}
