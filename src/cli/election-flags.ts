import type { Command } from 'commander';
import { durationOption } from './source-flags.ts';

/** Flags of leader election, for a command that serves. */
export function addElectionFlags(command: Command): Command {
  return command
    .option(
      '--leader-elect',
      'elect a leader; other processes wait (default: on in a pod, else off)',
    )
    .option('--no-leader-elect', 'no other process runs with the name of this runtime')
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
        'how long a leader that cannot renew the Lease continues',
        10_000,
      ),
    )
    .addOption(durationOption('--retry-period <time>', 'between two renewals', 2_000));
}
