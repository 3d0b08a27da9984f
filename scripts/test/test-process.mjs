import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Several times the patience of one wait: a test fails by what it waited for, and reports it. */
const testTimeoutMs = 600_000;
/** A test that never lets its process breathe cannot be ended by its time limit: then its process is. */
const silenceMs = testTimeoutMs + 60_000;
/** A process that has ended meanwhile is a failure of its own. */
const ignoreEnd = () => {};
const testContext = `--import=${new URL('test-context.mjs', import.meta.url)}`;

/** Starts Node in a process group of its own. When the signal aborts, the group is killed, with all that it has started. */
export function startNode(args, { signal, ...options }) {
  const child = spawn(process.execPath, args, { ...options, detached: true });
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  signal.addEventListener('abort', kill);
  child.once('exit', () => signal.removeEventListener('abort', kill));
  return { child, kill };
}

/**
 * Starts a process that runs test files and sends their results, and counts them into `tally`. It counts as failures, too: a process
 * that ends before all tests have, or with an error that no test has, and a file without tests, unless `mayBeEmpty`. `nextFile`: hands out the
 * files that it asks for.
 */
export function startTestProcess(args, options) {
  const { environment, signal, tally, nextFile, showsFailures, mayBeEmpty } = options;
  const { child, kill } = startNode([testContext, `--test-timeout=${testTimeoutMs}`, ...args], {
    signal,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...environment },
  });
  let last = 'the first test';
  let hasEnded = false;
  let failures = 0;
  const fail = (test, report) => {
    failures += 1;
    tally.failures.push(test);
    if (showsFailures || report === undefined)
      console.log(`✖ ${test}\n${(report ?? '').replace(/^/gm, '    ')}\n`);
  };
  const watchdog = setTimeout(kill, silenceMs);
  child.on('message', ({ kind, test, report, file, ms }) => {
    watchdog.refresh();
    if (kind === 'next') child.send({ file: nextFile() }, ignoreEnd);
    if (kind === 'started') last = test;
    if (kind === 'end') hasEnded = true;
    if (kind === 'time') tally.addTime(file, ms);
    if (kind === 'passed') tally.passed += 1;
    if (kind === 'skipped') tally.skipped += 1;
    if (kind === 'failed') fail(test, report);
    if (kind === 'empty' && !mayBeEmpty) fail(test, 'It has no tests');
  });
  const ended = async () => {
    const [status, killedBy] = await once(child, 'close');
    clearTimeout(watchdog);
    if (!hasEnded)
      fail(
        `A process of tests ended early (${killedBy ?? `exit code ${status}`}), in or after ${last}`,
      );
    else if (status !== 0 && failures === 0)
      fail(`A process of tests ended with ${killedBy ?? `exit code ${status}`}`);
  };
  return { child, ended: ended() };
}
