import type { ClusterConfig, KubeCluster, KubeClusterOptions, ServerNote } from '#kube';
import type { InformerState } from '#kube/roles.ts';
import { rightText, untilInformer } from '#reconcile';
import type { Logger } from '#telemetry/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { foreignText, uidIn } from '#util/foreign-text.ts';
import { gvkOf } from '#util/gvk.ts';
import { errorLogFields, messageOf } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import { pause } from '#util/pause.ts';
import type { Random } from '#util/random.ts';
import { whenAborted } from '#util/when-aborted.ts';
import {
  ConnectionError,
  type ConnectionFailure,
  type ConnectionState,
  cannotConnect,
  failureOf,
  isFinal,
  unauthorized,
} from './connection-state.ts';
import type { MemberAccess } from './member-access.ts';

/** The client of a member. */
export interface MemberClient {
  readonly cluster: KubeCluster;
  /** Closes it: stops informers, flushes Events, closes all connections. */
  close(): Promise<void>;
}

/** What a connection observes of its client. */
export type ConnectionEvents = Pick<
  KubeClusterOptions,
  'identity' | 'onLost' | 'onUnauthorized' | 'onExceeded'
> & {
  /** Called for each connection whose address is unusual. */
  readonly onServerNote: (note: ServerNote) => void;
  /** Called when the member sends more than is read, and when it does not any more. */
  readonly onThrottled: (isThrottled: boolean) => void;
};

/** Creates the client of a member. The caller closes it. */
export type ConnectMember = (
  config: ClusterConfig,
  options: Pick<
    KubeClusterOptions,
    | 'name'
    | 'labels'
    | 'beforeWrite'
    | 'metrics'
    | 'identity'
    | 'onLost'
    | 'onUnauthorized'
    | 'onExceeded'
  > &
    Partial<Pick<ConnectionEvents, 'onServerNote' | 'onThrottled'>> & {
      /** Called with the time in which reading has waited, in s. */
      readonly onReadWaited?: (seconds: number) => void;
    },
) => MemberClient;

/** A connected member. */
export type Connected = Extract<ConnectionState, { kind: 'connected' }>;

interface MemberConnectionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Creates the client. */
  readonly connect: (config: ClusterConfig, options: ConnectionEvents) => MemberClient;
  /** Checks the UID of the cluster before anything is listed or written. @throws ConnectionError */
  readonly admit: (uid: string) => Promise<void>;
  /** Works in the cluster; resolves when the signal has aborted and all work has ended. */
  readonly onConnected: (connected: Connected, signal: AbortSignal) => Promise<void>;
  readonly onChange: () => void;
}

const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };
/** A connection that lasts so long ends the row of failures: one that exceeds a limit again and again costs a list each time. */
const stableMs = 300_000;
/** An unreachable member is reported after this time. */
export const reportAfterMs = 15_000;
/** Interval of checks whether the cluster is still the same. */
const recheckMs = 600_000;

const systemNamespace = 'kube-system';
const namespaceGvk = gvkOf('v1', 'Namespace');
const identityPath = `/api/v1/namespaces/${systemNamespace}`;
/** Of the version and of the namespace: another server may be there. */
const maxResponseBytes = 65_536;
const flow = { name: 'clusters', priority: 'object' } as const;

/** Connects to a member, again and again, and checks that it is the same cluster. */
export class MemberConnection {
  readonly #options: MemberConnectionOptions;
  /** Undefined: it cannot be reached. */
  #access: MemberAccess | undefined;
  /** Aborts when the access changes. */
  #changed = new AbortController();
  #state: ConnectionState = { kind: 'connecting' };
  /** When this attempt has connected. */
  #connectedMs: number | undefined;
  #cancelReport: (() => void) | undefined;
  /** Why the last attempt of a series has failed, as it was logged. */
  #logged: string | undefined;
  /** Resolves when all work with the access has ended. */
  #connecting: Promise<void> | undefined;

  constructor(options: MemberConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Changes how the member is reached, or why it cannot be. Connects again only if another connection is needed. */
  setAccess(access: MemberAccess | ConnectionFailure): void {
    const next = 'reason' in access ? undefined : access;
    if ('reason' in access) this.#changeState({ kind: 'failed', failure: access });
    if (this.#access?.digest === next?.digest) return;
    this.#access = next;
    this.#logged = undefined;
    if (next !== undefined) this.#changeState({ kind: 'connecting' });
    this.#startAgain('The kubeconfig has changed');
  }

  /** Connects again; resolves when all work of the connection before has ended. */
  async restart(): Promise<void> {
    const before = this.#connecting;
    this.#setState({ kind: 'connecting' });
    this.#startAgain('Connecting again');
    await before;
  }

  /** Runs until the signal aborts and all work in the member has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const access = this.#access;
      const ending = anySignal([signal, this.#changed.signal]);
      this.#connecting = access && this.#connect(access, ending);
      await (this.#connecting ?? whenAborted(ending));
    }
    this.#stopReport();
  }

  #startAgain(why: string): void {
    this.#stopReport();
    const before = this.#changed;
    this.#changed = new AbortController();
    before.abort(new Error(why));
  }

  /** Resolves when the signal has aborted and all work has ended. */
  async #connect(access: MemberAccess, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let failures = 0;
    this.#scheduleReport();
    while (!signal.aborted) {
      this.#connectedMs = undefined;
      const failure = await this.#attempt(access, signal);
      if (signal.aborted) return;
      if (this.#connectedMs !== undefined && clock.monotonicMs() - this.#connectedMs >= stableMs)
        failures = 0;
      if (this.#state.kind === 'connected') {
        this.#scheduleReport();
        this.#setState({ kind: 'connecting' });
      }
      this.#setFailure(failure);
      if (isFinal(failure)) await whenAborted(signal);
      else await pause(clock, random.fraction() * backoffMs(failures++, retry), signal);
    }
  }

  /** Resolves when the connection has failed or the signal aborts. */
  async #attempt({ config }: MemberAccess, signal: AbortSignal): Promise<ConnectionFailure> {
    const { connect, admit, onConnected } = this.#options;
    const lost = new AbortController();
    let failure: ConnectionFailure | undefined;
    let uid: string | undefined;
    const notes = new Set<ServerNote>();
    const accepts = (object: unknown) => uidOf(object) === uid;
    const end = (why: ConnectionFailure) => {
      failure ??= why;
      lost.abort(new Error(why.message));
      // Requests that wait for a response fail.
      void cluster.disconnect();
    };
    const { cluster, close } = connect(config, {
      identity: () => (uid === undefined ? undefined : { path: identityPath, accepts }),
      onLost: (why) => end(lossFailures[why]),
      onUnauthorized: () => end(unauthorized),
      onExceeded: (limit) => end(exceeded[limit]),
      onServerNote: (note) => notes.add(note),
      onThrottled: (isThrottled) => this.#noteThrottled(isThrottled),
    });
    const ending = anySignal([signal, lost.signal]);
    try {
      const found = await this.#contact(cluster, ending);
      await admit(found.uid);
      ending.throwIfAborted();
      uid = found.uid;
      const isInsecure = config.skipsTlsVerify === true;
      const connected = {
        ...({ kind: 'connected', cluster, isInsecure, notes: [...notes] } as const),
        ...found,
      };
      this.#stopReport();
      this.#connectedMs = this.#options.clock.monotonicMs();
      this.#logged = undefined;
      this.#setState(connected);
      const working = onConnected(connected, ending);
      const other = await this.#whenOther(connected, ending);
      if (other !== undefined) end(other);
      await working;
    } catch (error) {
      failure ??= this.#failureOf(error);
      lost.abort(error);
    } finally {
      await close();
    }
    return failure ?? lossFailures.outage;
  }

  #failureOf(error: unknown): ConnectionFailure {
    const failure = failureOf(error);
    // Its message does not say why.
    if (failure === cannotConnect) this.#logFailure(error);
    return failure;
  }

  #logFailure(error: unknown): void {
    const why = messageOf(error);
    const level = why === this.#logged ? 'debug' : 'warn';
    this.#logged = why;
    this.#options.logger[level](errorLogFields(error), 'Connecting to a member cluster failed');
  }

  async #contact(cluster: KubeCluster, signal: AbortSignal) {
    const get = async (path: string) =>
      (await cluster.api.request({ method: 'GET', path, flow, maxResponseBytes }, signal)).body;
    const version = await get('/version');
    const uid = uidOf(await get(identityPath));
    if (uid === undefined)
      throw new ConnectionError({
        reason: 'Unreachable',
        message: `Expected the namespace "${systemNamespace}" with a UID (0-9, a-f and "-", at most 64), found another response`,
      });
    const gitVersion = isJsonObject(version) ? version.gitVersion : undefined;
    return { uid, version: typeof gitVersion === 'string' ? foreignText(gitVersion, 64) : '' };
  }

  /** Resolves when another cluster responds, or it is not known whether one does; with undefined when the signal aborts. */
  async #whenOther(
    { cluster, uid }: Connected,
    signal: AbortSignal,
  ): Promise<ConnectionFailure | undefined> {
    const informer = cluster.acquire({
      gvk: namespaceGvk,
      fieldSelector: `metadata.name=${systemNamespace}`,
    });
    const checking = new AbortController();
    const either = anySignal([signal, checking.signal]);
    try {
      return await Promise.race([
        untilInformer(informer, either, () => {
          this.#noteMissingRight(informer.state);
          const live = informer.get(undefined, systemNamespace)?.object;
          return live === undefined || live.metadata.uid === uid ? undefined : replaced;
        }),
        this.#recheck(cluster, uid, either),
      ]);
    } catch (error) {
      return signal.aborted ? undefined : this.#failureOf(error);
    } finally {
      checking.abort(new Error('Another check has ended'));
      informer.release();
    }
  }

  /** A member whose identity cannot be watched is used: every new connection checks it, too. */
  #noteMissingRight(watch: InformerState): void {
    if (this.#state.kind !== 'connected') return;
    const right = watch.kind === 'failing' ? watch.error.right : undefined;
    const missingRight = right && rightText(right, systemNamespace);
    if (missingRight === this.#state.missingRight) return;
    const { missingRight: _, ...connected } = this.#state;
    this.#setState({ ...connected, ...(missingRight !== undefined && { missingRight }) });
  }

  #noteThrottled(isThrottled: boolean): void {
    if (this.#state.kind === 'connected') this.#setState({ ...this.#state, isThrottled });
  }

  async #recheck(
    cluster: KubeCluster,
    uid: string,
    signal: AbortSignal,
  ): Promise<ConnectionFailure | undefined> {
    while (!signal.aborted) {
      await pause(this.#options.clock, recheckMs, signal);
      if (signal.aborted) break;
      const ref = { gvk: namespaceGvk, name: systemNamespace };
      const live = await cluster.get(ref, { flow }, signal);
      if (live?.object.metadata.uid !== uid) return replaced;
    }
    return undefined;
  }

  #setFailure(failure: ConnectionFailure): void {
    const isReported = failure.reason !== 'Unreachable' || this.#cancelReport === undefined;
    this.#setState(isReported ? { kind: 'failed', failure } : { kind: 'connecting', failure });
  }

  #stopReport(): void {
    this.#cancelReport?.();
    this.#cancelReport = undefined;
  }

  #scheduleReport(): void {
    this.#stopReport();
    this.#cancelReport = this.#options.clock.after(reportAfterMs, () => {
      this.#cancelReport = undefined;
      if (this.#state.kind !== 'connecting') return;
      this.#setFailure(this.#state.failure ?? lossFailures.outage);
    });
  }

  /** Each reconcile sets the access: a change that is none would cause the next one. */
  #changeState(state: ConnectionState): void {
    if (!deepEqual(this.#state, state)) this.#setState(state);
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    this.#options.onChange();
  }
}

const replaced: ConnectionFailure = {
  reason: 'Unreachable',
  message: 'Another cluster responds at its address',
};

const exceeded = {
  own: {
    reason: 'LimitExceeded',
    message:
      'Its objects need more memory than one cluster may take: an eighth of the heap of the runtime',
  },
  together: {
    reason: 'LimitExceeded',
    message:
      'All clusters together need more memory than a quarter of the heap of the runtime, and this one needs most',
  },
} as const;

const lossFailures = {
  outage: { reason: 'Unreachable', message: 'The API server does not respond' },
  restored: {
    reason: 'Unreachable',
    message: 'The API server has an older state than before, connecting again',
  },
} as const;

function uidOf(object: unknown): string | undefined {
  const metadata = isJsonObject(object) ? object.metadata : undefined;
  return isJsonObject(metadata) ? uidIn(metadata.uid) : undefined;
}
