import type { ChildPlan } from '#compile';
import { kindsOf, selectsMember } from '#definition';
import type { GroupKindAt, KindAt, RefAt, StoredObject } from '#kube/roles.ts';
import { type Gvk, isSameKind } from '#util/gvk.ts';
import { clustersAnnotationOf } from '#util/stored-names.ts';
import { type Problem, problemOfCluster, problemOfValue, problemOfWatch } from '../failure.ts';
import type { ResourceRecords } from '../pass/feature.ts';
import type { OtherClusters } from '../pass/other-clusters.ts';
import { emitEvent, type Pass, requestError } from '../pass/pass.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { isElsewhere } from '../where.ts';
import type { MemberView } from './members.ts';
import {
  kindsPlacedIn,
  type Placements,
  placementsOf,
  placementsText,
  recordedUid,
} from './placements.ts';

/** The member clusters in one pass. */
export class PassMembers implements OtherClusters {
  readonly #pass: Pass;
  /** Undefined: the runtime has no members. */
  readonly #view: MemberView | undefined;
  #placements: Placements;
  isExpected = false;

  /** Remembers the cluster of an object, for expressions. */
  readonly note: (stored: StoredObject) => void;

  constructor(pass: Pass, view: MemberView | undefined, note: (stored: StoredObject) => void) {
    this.#pass = pass;
    this.note = note;
    this.#view = view;
    this.#placements = placementsOf(pass.resource, pass.context.plan.name);
  }

  get hubUid(): string | undefined {
    return this.#view?.hubUid;
  }

  get places(): ReadonlySet<string> {
    if (this.#view === undefined) return none;
    const recorded = [...this.#pass.findings.inventory.recorded.values()];
    const names = [
      ...this.#placements.keys(),
      ...recorded.flatMap(({ kind }) => kind.cluster ?? []),
    ];
    return new Set(names.filter((name) => !this.isGivenUp(name)));
  }

  reaches(cluster: string): boolean {
    return this.#view?.isUsable(cluster) === true;
  }

  available(cluster: string, gvk?: KindAt): Problem | undefined {
    const unusable = this.#unusable(cluster);
    if (unusable !== undefined || gvk === undefined) return unusable;
    const state = this.#pass.context.watches.findChildren(gvk)?.informer.state;
    if (state?.kind === 'synced') return undefined;
    if (state?.kind === 'failing' && state.error.code !== 'cluster-unreachable') {
      const problem = problemOfWatch(state.error, gvk);
      return { ...problem, message: `Cluster "${cluster}": ${problem.message}`, isUnknown: true };
    }
    this.isExpected = true;
    return problemOfCluster(cluster, `its ${gvk.kind} objects are not listed yet`);
  }

  #unusable(cluster: string): Problem | undefined {
    const view = this.#view;
    if (view?.isUsable(cluster) === true) return undefined;
    if (view?.isExpected(cluster) === true) this.isExpected = true;
    return problemOfCluster(cluster, view?.reasonOf(cluster) ?? 'it is not connected');
  }

  rejection({ placement }: Pick<ChildPlan, 'placement'>, cluster: string): Problem | undefined {
    const labels = this.#view?.labelsOf(cluster);
    if (labels === undefined || selectsMember(placement?.allowed ?? 'all', labels))
      return undefined;
    return problemOfValue(`cluster: "${cluster}" does not match the selector of "crossCluster"`);
  }

  isGivenUp(cluster: string): boolean {
    const uid = this.#placements.get(cluster) ?? '';
    return this.#view?.isGivenUp(cluster, uid) ?? false;
  }

  depend(cluster: string): void {
    const { dependencies, again } = this.#pass;
    dependencies.cluster(cluster);
    // A change since the pass began has enqueued nothing.
    if (this.#view?.isStale(cluster) === true) again('cluster-changed');
  }

  async observe(clusters: Iterable<string>): Promise<void> {
    const { context, signal } = this.#pass;
    for (const name of clusters) {
      this.depend(name);
      if (!this.reaches(name)) continue;
      await context.watches.watchIn(name, await this.#kindsIn(name), signal);
    }
  }

  /**
   * Searches the members that may have objects of the resource: those on record, and all usable ones that the definition allows, as authors
   * of resources can edit the record. Only those on record are waited for.
   */
  async search(): Promise<readonly Problem[]> {
    const view = this.#view;
    if (view === undefined) return [];
    const { places } = this;
    const { plan } = this.#pass.context;
    const allowed = [...view.names].filter(
      (name) => view.isUsable(name) && kindsPlacedIn(plan, name, view.labelsOf(name)).length > 0,
    );
    await this.observe(new Set([...places, ...allowed]));
    return [...places]
      .filter((name) => !view.isUsable(name))
      .sort()
      .map((name) => problemOfCluster(name, view.reasonOf(name)));
  }

  /** The kinds that the resource may have children of in a member: those that the definition places, and the recorded ones. */
  async #kindsIn(cluster: string): Promise<readonly Gvk[]> {
    const { plan, childKinds } = this.#pass.context;
    const { recorded, isMissing } = this.#pass.findings.inventory;
    const found = plan.children.flatMap((child) => (isElsewhere(child) ? kindsOf(child) : []));
    const kinds = [...recorded.values()].map(({ kind }) => kind);
    // Without an inventory, it may have children of every kind that the definition had.
    const all = [
      ...kinds.filter((kind) => kind.cluster === cluster),
      ...(isMissing ? (childKinds?.values() ?? []) : []),
    ];
    for (const kind of all) {
      if (found.some((gvk) => isSameKind(gvk, kind))) continue;
      const gvk = await this.#findKind({ ...kind, cluster });
      if (gvk !== undefined) found.push(gvk);
    }
    return found;
  }

  /** Undefined: it is not served there, or unknown now: its recorded objects then count as existing. */
  async #findKind(kind: GroupKindAt): Promise<Gvk | undefined> {
    try {
      return (await this.#pass.context.cluster.findKind(kind, this.#pass.signal))?.gvk;
    } catch (error) {
      requestError(error, this.#pass);
      return undefined;
    }
  }

  records(creates: readonly RefAt[]): ResourceRecords {
    const current = this.#placements;
    const next = this.#withPlacesOf(creates);
    const text = placementsText(next);
    return {
      annotations: text === undefined ? {} : { [this.#annotation]: text },
      isRecorded: next === current,
      onWritten: () => {
        this.#placements = next;
      },
    };
  }

  get #annotation(): string {
    return clustersAnnotationOf(this.#pass.context.plan.name);
  }

  /** The placements with the usable members of these objects; the current ones if nothing is added. */
  #withPlacesOf(creates: readonly RefAt[]): Placements {
    const added = new Map<string, string>();
    for (const { gvk } of creates) {
      const { cluster = '' } = gvk;
      const uid = this.#view?.uidOf(cluster);
      if (uid !== undefined && this.#placements.get(cluster) !== recordedUid(uid))
        added.set(cluster, recordedUid(uid));
    }
    return added.size === 0 ? this.#placements : new Map([...this.#placements, ...added]);
  }

  /**
   * Also removes those that are given up: their object of kind `Cluster` was deleted, or it is another cluster by now. Nothing is deleted in
   * these.
   */
  async forgetPlaces(remaining: ReadonlySet<string> | undefined): Promise<void> {
    const current = this.#placements;
    if (current.size === 0) return;
    const { effects } = this.#pass;
    const desired = [...effects.children.values()].flatMap(({ elements }) =>
      elements.flatMap(({ cluster }) => cluster ?? []),
    );
    const isKept = (cluster: string) =>
      !this.isGivenUp(cluster) &&
      (remaining === undefined || remaining.has(cluster) || desired.includes(cluster));
    const kept = new Map([...current].filter(([cluster]) => isKept(cluster)));
    if (kept.size === current.size) return;
    const text = placementsText(kept) ?? null;
    const problem = await annotateResource(this.#pass, { [this.#annotation]: text });
    // Before the record changes: what is given up depends on the recorded UID.
    const givenUp = [...current.keys()].filter((cluster) => this.isGivenUp(cluster));
    if (problem === undefined && givenUp.length > 0) reportGivenUp(this.#pass, givenUp);
    if (problem === undefined) this.#placements = kept;
    else effects.finalizerProblem ??= problem;
  }
}

const none: ReadonlySet<string> = new Set();

function reportGivenUp(pass: Pass, clusters: readonly string[]): void {
  const names = clusters.map((cluster) => `"${cluster}"`).sort();
  const note = `The objects in cluster ${names.join(', ')} are given up and stay there: its Cluster object was deleted, or is another cluster now`;
  emitEvent(pass, { type: 'Warning', reason: 'ObjectsGivenUp', note });
}
