import type { EventRecorder, PassToken, Writer } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { JsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import { liveStatus } from '../definitions/record.ts';
import { writeOwnStatus } from '../objects/own-status.ts';
import { WriteRateLimiter } from '../objects/write-rate-limiter.ts';
import { clusterStatusOf, hasClusterStatus } from './cluster-status.ts';
import type { Member } from './member.ts';

interface ClusterReporterOptions {
  readonly cluster: Writer & { readonly events: EventRecorder };
  readonly clock: Clock;
  readonly passOf: (name: string) => PassToken;
}

const fieldManager = 'homeostat/clusters.status';
/** Minimum time between writes of numbers of resources. */
const countsMs = 10_000;
const limits = { burst: 10, refillMs: 500 };
/** After a start, a status that only shows the start is not written for this time. */
const startGraceMs = 5_000;

/** Writes the status of members, and Events for its changes. */
export class ClusterReporter {
  readonly #options: ClusterReporterOptions;
  readonly #pace: WriteRateLimiter;
  /** Monotonic time of the first report by name. */
  readonly #seenMs = new Map<string, number>();

  constructor(options: ClusterReporterOptions) {
    this.#options = options;
    this.#pace = new WriteRateLimiter(options.clock, limits);
  }

  /** Whether the status of the member differs from what was written. */
  isOutdated(member: Member): boolean {
    return !hasClusterStatus(member.record.object, this.#statusOf(member));
  }

  /**
   * Writes the status if it has changed.
   * @returns the delay until the write is allowed, in ms; 0: done
   * @throws KubeError
   */
  async report(member: Member, signal: AbortSignal): Promise<number> {
    const { object } = member.record;
    const { name } = object.metadata;
    const states = new Map(
      Array.from(member.definitions.values(), (each) => [each.name, each.state]),
    );
    const desired = this.#statusOf(member);
    if (hasClusterStatus(object, desired)) {
      member.onWritten(uidIn(desired), states);
      return 0;
    }
    const graceMs = this.#graceMs(member);
    if (graceMs > 0) return graceMs;
    const isCounts = hasClusterStatus(object, desired, { ignoresCounts: true });
    const delayMs = this.#pace.delayOf(name, isCounts ? countsMs : 0);
    if (delayMs > 0) return delayMs;
    this.#pace.recordWrite(name);
    const { cluster, passOf } = this.#options;
    const flow = { name: 'clusters', priority: 'status' } as const;
    const written = { status: desired, fieldManager, flow, pass: passOf(name) };
    if (!(await writeOwnStatus(cluster, object, written, signal))) return 0;
    this.#recordEvent(object, desired);
    member.onWritten(uidIn(desired), states);
    return 0;
  }

  forget(name: string): void {
    this.#pace.forget(name);
    this.#seenMs.delete(name);
  }

  /** After a restart, most members are soon as their status says. */
  #graceMs(member: Member): number {
    const { clock } = this.#options;
    const { name, connection, record } = member;
    const nowMs = clock.monotonicMs();
    const sinceMs = this.#seenMs.get(name) ?? nowMs;
    this.#seenMs.set(name, sinceMs);
    if (record.connected === undefined || member.isAwaited) return 0;
    // An unreachable member fails after 15 s.
    if (connection.kind === 'connecting') return 15_000;
    const isStarting = [...member.definitions.values()].some(({ isStarting }) => isStarting);
    return isStarting ? Math.max(0, sinceMs + startGraceMs - nowMs) : 0;
  }

  #statusOf(member: Member) {
    const now = new Date(this.#options.clock.nowMs()).toISOString();
    return clusterStatusOf(member.facts, { object: member.record.object, now });
  }

  #recordEvent(object: KubeObject, status: JsonObject): void {
    const before = connectedIn(liveStatus(object));
    const after = connectedIn(status);
    if (after === undefined || after.status === 'Unknown') return;
    const isSame = before?.status === after.status && before?.reason === after.reason;
    if (isSame) return;
    this.#options.cluster.events.record({
      regarding: object,
      type: after.status === 'True' ? 'Normal' : 'Warning',
      reason: String(after.reason),
      action: 'Connect',
      note: String(after.message || 'Connected'),
      definition: 'clusters',
    });
  }
}

function connectedIn(status: JsonObject): JsonObject | undefined {
  return conditionsOf({ status }).find(({ type }) => type === 'Connected');
}

function uidIn({ uid }: JsonObject): string | undefined {
  return typeof uid === 'string' ? uid : undefined;
}
