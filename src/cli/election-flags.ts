import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../util/duration.ts';

/** Flags of leader election, for a command that serves. */
export function addElectionFlags(command: Command): Command {
  return command
    .option('--leader-elect', 'of several processes one works, the others wait (default: off)')
    .option('--lease-name <name>', 'name of the Lease, in --namespace', 'homeostat')
    .addOption(
      durationOption(
        '--lease-duration <time>',
        'how long others wait for a leader that is not heard of',
        15_000,
      ),
    )
    .addOption(
      durationOption(
        '--renew-deadline <time>',
        'how long a leader goes on that cannot renew the Lease',
        10_000,
      ),
    )
    .addOption(durationOption('--retry-period <time>', 'between two renewals', 2_000));
}

function durationOption(flags: string, description: string, defaultMs: number): Option {
  return new Option(flags, description)
    .argParser(parseTime)
    .default(defaultMs, `${defaultMs / 1_000}s`);
}

function parseTime(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('Expected a time such as "15s" or "1m30s".');
  return ms;
}
