import type { LeafParser } from '#compile/language/index.ts';
import type { EventRecorder, HttpTransport, Writer } from '#kube/roles.ts';
import type { ByteSemaphore } from '#util/byte-semaphore.ts';
import type { Clock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import type { TimeSlicer } from '#util/time-slicer.ts';
import type { Blocked } from '../core/view.ts';
import type { ValueSource } from '../spec/value-source.ts';
import type { HttpMetrics } from './http-metrics.ts';

/** What the controller uses of the outside. Everything is passed in. */
export interface HttpObjectPorts {
  readonly cluster: Pick<Writer, 'apply' | 'editMetadata'> & { readonly events: EventRecorder };
  readonly transport: HttpTransport;
  readonly values: ValueReader;
  readonly tokens: ServiceAccountTokens;
  readonly parser: LeafParser;
  readonly clock: Clock;
  readonly random: Random;
  /** Memory shared by all reconciles, for answers. @default unlimited */
  readonly memory?: ByteSemaphore;
  /** Shares the thread with all reconciles. @default code never waits */
  readonly timeSlicer?: TimeSlicer;
  /** @default nothing is measured */
  readonly metrics?: HttpMetrics;
  /** Throws when this process must not write, because it is not the leader. @default it may */
  readonly beforeWrite?: () => void;
}

/** A value of a Secret or ConfigMap. */
export interface InputValue {
  readonly value: string;
  /** UID, resourceVersion and key: says nothing about the value. */
  readonly version: string;
}

/** Reads Secrets, ConfigMaps and Namespaces by name. */
export interface ValueReader {
  /** The value, or why it may not be read. @throws KubeError */
  read(namespace: string, source: ValueSource, signal: AbortSignal): Promise<InputValue | Blocked>;
  /** A Secret as a whole, of which this runtime is the owner. @throws KubeError; SecretRejectedError when it may not be written */
  secret(namespace: string, name: string, signal: AbortSignal): Promise<KubeObject | undefined>;
  isNamespaceTerminating(namespace: string, signal: AbortSignal): Promise<boolean>;
}

/** Issues tokens of service accounts. */
export interface ServiceAccountTokens {
  /** @throws KubeError; TokenRefusedError when the account does not permit it */
  issue(request: TokenRequest, signal: AbortSignal): Promise<string>;
}

export interface TokenRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly audience: string;
  /** The endpoint that the annotation of the account must name. */
  readonly endpoint: string;
}
