// Runs suites of tests, one after the other, and prints one closing line with the counts of all:
// `node scripts/run-tests.mjs unit|integration|sandbox|faults|contract[,SUITE...] [PATH-PART...] [--name PATTERN] [--seed N] [--again N]`.
import { fileURLToPath } from 'node:url';
import { readArguments } from './test/arguments.mjs';
import { runSuite } from './test/run-suite.mjs';
import { closingLine, Tally } from './test/tally.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
// Every process that runs tests, and every process that a test starts, compiles the sources anew: of each start this saves half.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
);
const { suites, ...selection } = argumentsOrExit();
const stopper = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  const stop = () => {
    stopper.abort();
    // Not earlier: npm and a terminal send the signal, too, and without a handler it ends the process at once.
    process.off(name, stop);
    process.kill(process.pid, name);
  };
  process.on(name, stop);
}
const total = new Tally();
for (const name of suites) total.add(await runSuite(name, selection, stopper.signal));
console.log(closingLine(total));
process.exitCode = total.failed > 0 ? 1 : 0;

/** A wrong argument is one line, and how the program is called. */
function argumentsOrExit() {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    console.error(
      'Usage: npm test -- [SUITE[,SUITE...] [PATH-PART...]] [--name PATTERN] [--seed N] [--again N]',
    );
    process.exit(1);
  }
}
