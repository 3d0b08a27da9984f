import type { SentRequest } from '#kube';
import type { ChildDecision, DecisionRecord, Intent, ReconcileEnd } from '#reconcile';
import { canonicalJson } from '#util/canonical-json.ts';
import type { Clock } from '#util/clock.ts';
import { sha256Hex } from '#util/sha256.ts';
import type { ReconciledChild, ReconcileRecord, ReconcileTrigger, RequestView } from '#web';

export interface RunningReconcileOptions {
  readonly clock: Clock;
  readonly salt: string;
  readonly trigger: ReconcileTrigger;
  /** Monotonic time of the first cause. Undefined: not known. */
  readonly since: number | undefined;
  readonly revision: string;
}

interface PhaseTime {
  readonly name: string;
  durationMs: number;
}

/** Digits of a digest. */
const digestLength = 10;
/** More requests of one reconcile are not recorded. */
const maxRequests = 1_000;

/** Collects what one reconcile does. */
export class RunningReconcile {
  readonly #options: RunningReconcileOptions;
  readonly #startMs: number;
  readonly #digests = new Map<string, string>();
  readonly #requests: RequestView[] = [];
  readonly #phases: PhaseTime[] = [];
  #phase: PhaseTime | undefined;
  #phaseStartMs = 0;
  #decisions: DecisionRecord | undefined;

  constructor(options: RunningReconcileOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
  }

  phase(name: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#endPhase(nowMs);
    this.#phase = this.#phases.find((each) => each.name === name);
    if (this.#phase === undefined) {
      this.#phase = { name, durationMs: 0 };
      this.#phases.push(this.#phase);
    }
    this.#phaseStartMs = nowMs;
  }

  desired(childId: string, { ref, manifest }: Intent): void {
    const { namespace = '', name } = ref;
    const { cluster = '' } = ref.gvk;
    const text = `${this.#options.salt}${canonicalJson(manifest)}`;
    this.#digests.set(
      elementKey({ childId, cluster, namespace, name }),
      sha256Hex(text).slice(0, digestLength),
    );
  }

  request({ verb, ref, subresource }: SentRequest): (status: number) => void {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    const at = this.#requests.length;
    if (at >= maxRequests) return () => undefined;
    const where = ref.namespace === undefined ? '' : `${ref.namespace}/`;
    const name = ref.isPrivate === true ? '(private)' : `${where}${ref.name}`;
    const view = {
      verb,
      object: `${ref.gvk.kind} ${name}${subresource === undefined ? '' : `/${subresource}`}`,
    };
    this.#requests.push({ ...view, code: 0, durationMs: 0 });
    return (code) => {
      this.#requests[at] = { ...view, code, durationMs: rounded(clock.monotonicMs() - startMs) };
    };
  }

  decided(record: DecisionRecord): void {
    this.#decisions = record;
  }

  /** Undefined: the resource does not exist, and nothing was done. */
  finish(end: ReconcileEnd, number: number): ReconcileRecord | undefined {
    const { clock, trigger, since, revision } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#endPhase(nowMs);
    const { children = [], status = '', isReady = false } = this.#decisions ?? {};
    const hasHappened = this.#decisions !== undefined || this.#requests.length > 0;
    if (!hasHappened && end.kind === 'done') return undefined;
    return {
      number,
      time: new Date(clock.nowMs()).toISOString(),
      durationMs: rounded(nowMs - this.#startMs),
      queuedMs: since === undefined ? 0 : rounded(this.#startMs - since),
      trigger,
      revision,
      children: children.map((child) => this.#childOf(child)),
      requests: this.#requests,
      phases: this.#phases.map(({ name, durationMs }) => ({
        name,
        durationMs: rounded(durationMs),
      })),
      status,
      isReady,
      end: end.kind,
      reason: reasonOf(end),
    };
  }

  #endPhase(nowMs: number): void {
    if (this.#phase !== undefined) this.#phase.durationMs += nowMs - this.#phaseStartMs;
  }

  #childOf(child: ChildDecision): ReconciledChild {
    const { childId, kind, apiVersion, namespace, name, cluster, verdict, message } = child;
    const { isNameless = false } = child;
    return {
      id: childId,
      kind,
      apiVersion,
      namespace: isNameless ? '' : namespace,
      name: isNameless ? '' : name,
      message,
      ...(cluster !== undefined && !isNameless && { cluster }),
      verdict: verdict.kind,
      detail: detailOf(verdict),
      digest:
        this.#digests.get(elementKey({ childId, cluster: cluster ?? '', namespace, name })) ?? '',
    };
  }
}

/** `detail` of a verdict. */
function detailOf(verdict: ChildDecision['verdict']): string {
  switch (verdict.kind) {
    case 'applied':
      return verdict.fields.join(', ');
    case 'waiting':
      return verdict.on.join(', ');
    case 'conflict':
      return verdict.owner;
    case 'failed':
      return verdict.code;
    default:
      return '';
  }
}

function reasonOf(end: ReconcileEnd): string {
  if (end.kind === 'error') return end.code;
  return end.kind === 'done' ? '' : end.reason;
}

interface ElementPlace {
  readonly childId: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

function elementKey({ childId, cluster, namespace, name }: ElementPlace): string {
  return `${childId} ${cluster} ${namespace}/${name}`;
}

/** To a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
