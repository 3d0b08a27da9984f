import type { Command } from 'commander';
import type { LogLevel } from '#telemetry';
import type { ConversionFlags } from './conversion-flags.ts';
import { durationOption, type SourceFlags } from './source-flags.ts';

/** Of a runtime outside of the cluster that names none. */
export const defaultRuntimeNamespace = 'homeostat-system';

/** The flags of `homeostat run`. */
export interface RunOptions extends ElectionFlags, SourceFlags, ConversionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Namespace of the runtime's own objects. @default the namespace of the Pod, else `homeostat-system` */
  readonly namespace?: string;
  /** Names this runtime. @default see {@link runtimeName} */
  readonly runtime?: string;
  /** The name of a runtime that will not run again, whose definitions this one takes over. @default none */
  readonly takeOver?: string;
  /** Globs of the namespaces whose Secrets may contain kubeconfigs of member clusters. @default `namespace` */
  readonly clusterSecrets?: readonly string[];
  /** Globs of hosts, addresses and CIDRs that the kubeconfigs of member clusters may name. @default see `ServerPolicy` */
  readonly clusterServers?: readonly string[];
  /** `host:port`, or `off`. */
  readonly http: string;
  /** Serve the kinds HttpEndpoint and HttpObject without a definition that uses them. @default false */
  readonly httpObjects?: boolean;
  /** Globs of hosts, addresses and CIDRs to which objects behind HTTP may send requests. @default see `OutboundPolicy` */
  readonly httpAllow?: readonly string[];
  /** File with the token of clients that read the records of reconciles. @default undefined: nothing is recorded */
  readonly consoleRecords?: string;
  readonly logLevel: LogLevel;
}

/** Flags of leader election. */
export interface ElectionFlags {
  /** False: this process is alone. @default true in a Pod, else false */
  readonly leaderElect?: boolean;
  readonly leaseName: string;
  /** In ms. */
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
}

/**
 * Whether a leader is elected. All Pods of a Deployment have the same runtime name, and a roll-out starts the next one beside the last one:
 * two of them would both write everything.
 */
export function electsLeader({ leaderElect }: ElectionFlags, isInPod: boolean): boolean {
  return leaderElect ?? isInPod;
}

/** Reads a comma separated list, and adds it to the one before if the flag is repeated. */
export function parseList(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').map((item) => item.trim())];
}

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
