import type { LogLevel } from '../telemetry/index.ts';
import type { ElectionFlags } from './leader-election.ts';
import type { SourceFlags } from './source-flags.ts';

/** The flags of `homeostat run`. */
export interface RunOptions extends ElectionFlags, SourceFlags {
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
  /** `host:port`, or `off`. */
  readonly http: string;
  readonly logLevel: LogLevel;
}
