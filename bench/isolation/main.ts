// `npm run bench -- isolation`: what other definitions and their authors cost the good ones beside them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { neighbourNames } from './neighbours.ts';
import { isolationPage } from './results-page.ts';
import { type RunOptions, type RunResult, runOnce } from './run-once.ts';
import { tableOf } from './table.ts';

const usage = `npm run bench -- isolation [options]
  --beside LIST   who shares the process with the good definitions, in turns (default none,bad):
                  ${neighbourNames.join(', ')}; or all
  --reps N        repetitions of each (default 3)
  --seconds N     length of each measurement (default 20)
  --per-second N  creations and edits of good resources (default 20)
  --onset         measures from the creation of the bad ones on, when each hot resource runs again at once;
                  without it, from when all of them have been found to be unstable
  --hot N         resources of the hot definition (default 1000)
  --failing N     resources of the failing definition (default 100)
  --raw FILE      adds all that was measured to a JSON file; its earlier runs count too
  --write         writes bench/RESULTS-isolation.md
`;

const { values } = parseArgs({
  options: {
    reps: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '20' },
    onset: { type: 'boolean', default: false },
    hot: { type: 'string', default: '1000' },
    failing: { type: 'string', default: '100' },
    beside: { type: 'string', default: 'none,bad' },
    raw: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(usage);
else await bench();

async function bench(): Promise<void> {
  const results: RunResult[] = earlierResults();
  for (let repetition = 0; repetition < Number(values.reps); repetition++) {
    for (const beside of values.beside === 'all' ? neighbourNames : values.beside.split(',')) {
      const result = await runOnce(runOptions(beside));
      results.push(result);
      console.log(tableOf([result]));
    }
  }
  if (values.raw !== undefined) writeFileSync(values.raw, JSON.stringify(results));
  const table = tableOf(results);
  console.log(table);
  if (!values.write) return;
  const page = isolationPage({ arguments: process.argv.slice(2), table, date: new Date() });
  writeFileSync(fileURLToPath(new URL('../RESULTS-isolation.md', import.meta.url)), page);
}

/** Of the same file: a series may be measured in several goes. */
function earlierResults(): RunResult[] {
  if (values.raw === undefined || !existsSync(values.raw)) return [];
  return JSON.parse(readFileSync(values.raw, 'utf8'));
}

function runOptions(beside: string): RunOptions {
  return {
    beside,
    goodDefinitions: 18,
    resourcesEach: 10,
    failingResources: Number(values.failing),
    hotResources: Number(values.hot),
    perSecond: Number(values['per-second']),
    seconds: Number(values.seconds),
    fromOnset: values.onset,
  };
}
