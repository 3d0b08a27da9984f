import type {
  ChildPlan,
  Element,
  ExpressionInput,
  FieldPath,
  OperatorPlan,
  Phase,
  PhaseInput,
  ReadPlan,
  ReadRequest,
  Rendered,
  RenderFailure,
  Secrecy,
} from '#compile';
import type { CrossNamespace, OperatorDefinition } from '#definition';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { LabelSelector } from '#util/label-selector.ts';
import { builtInType } from '../builtin-type.ts';

/** What a hand-made expression sees. Reading what is waited for throws {@link Waiting}. */
export interface View {
  readonly resource: KubeObject & { readonly spec: Readonly<Record<string, unknown>> };
  /** Undefined: not wanted, or missing in a report. */
  child(id: string): KubeObject | undefined;
  children(id: string): readonly KubeObject[];
  read(id: string): KubeObject | undefined;
  list(id: string): readonly KubeObject[];
  /** As they are now. */
  observed(id: string): KubeObject | undefined;
  allObserved(id: string): readonly KubeObject[];
}

export interface HandmadeChild {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** @default 0 */
  readonly tier?: number;
  readonly after?: readonly string[];
  readonly afterSame?: readonly string[];
  readonly readsUsed?: readonly string[];
  /** @default 'Force' */
  readonly conflicts?: 'Force' | 'Report';
  /** Ids of children that it sees under `observed`. */
  readonly observes?: readonly string[];
  readonly ordered?: boolean;
  readonly updateStrategy?: ChildPlan['updateStrategy'];
  readonly left?: ChildPlan['left'];
  readonly cascade?: ChildPlan['cascade'];
  readonly adopt?: ChildPlan['adopt'];
  readonly when?: (view: View) => boolean;
  readonly forEach?: (view: View) => readonly unknown[];
  readonly ready?: (child: KubeObject) => boolean;
  readonly gate?: (view: View, element: Element) => boolean;
  readonly deleteWhen?: (child: KubeObject) => boolean;
  /** @default false */
  readonly crossNamespace?: CrossNamespace;
  /** @default 'Delete' */
  readonly deletionPolicy?: 'Delete' | 'Orphan';
  /** @default false */
  readonly prunesAfterReady?: boolean;
  readonly pathsRead?: readonly FieldPath[];
  /** @default 'content' for a Secret and what uses one, else 'none' */
  readonly secrecy?: Secrecy;
  /** Its name, where that is known without the rest. @default undefined */
  readonly name?: string;
  /** The manifest without apiVersion and kind; metadata has the name. */
  readonly template: (view: View, element: Element) => Omit<KubeObject, 'apiVersion' | 'kind'>;
}

export interface HandmadeRead {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name?: (view: View) => string;
  /** A list of names. */
  readonly names?: (view: View) => readonly string[];
  readonly literalNames?: readonly string[];
  /** See `ReadPlan.namespaces`. */
  readonly namespaces?: readonly string[];
  readonly labels?: (view: View) => Readonly<Record<string, string>>;
  readonly indexKey?: string;
  readonly watchSelector?: string;
  readonly optional?: boolean;
  readonly pathsRead?: readonly FieldPath[];
  /** @default 'content' for a Secret, else 'none' */
  readonly secrecy?: Secrecy;
}

export interface HandmadePlan {
  readonly name?: string;
  readonly revision?: string;
  readonly reads?: readonly HandmadeRead[];
  readonly children?: readonly HandmadeChild[];
  readonly status?: Readonly<Record<string, (view: View) => unknown>>;
  readonly statusPathsRead?: readonly FieldPath[];
  readonly onDelete?: HandmadeOnDelete;
  /** Of the resource. @default 'none' */
  readonly secrecy?: Secrecy;
  /** @default 'Namespaced' */
  readonly scope?: 'Namespaced' | 'Cluster';
}

export interface HandmadeOnDelete {
  readonly children?: readonly HandmadeChild[];
  /** @default 'Reverse' */
  readonly order?: 'Reverse' | 'Parallel';
  /** @default 600_000 */
  readonly timeoutMs?: number;
  /** @default 'Wait' */
  readonly onTimeout?: 'Wait' | 'Continue';
}

/** Thrown by a hand-made expression that reads what is not there yet. */
export class Waiting extends Error {
  readonly on: string;
  constructor(on: string) {
    super(on);
    this.on = on;
  }
}

/** Thrown by a hand-made expression that fails. */
export class Failing extends Error {}

/** A plan whose expressions are functions: for what a pass does with a plan, whatever compiled it. */
export function planOf(handmade: HandmadePlan): OperatorPlan {
  const children = (handmade.children ?? []).map((child, index) =>
    childPlanOf(child, index, handmade),
  );
  const tierOf = (id: string) => handmade.children?.find((child) => child.id === id)?.tier ?? 0;
  const last = Math.max(0, ...children.map(({ id }) => tierOf(id)));
  return {
    name: handmade.name ?? 'podset',
    revision: handmade.revision ?? 'r1',
    definition: definitionOf(handmade),
    scope: handmade.scope ?? 'Namespaced',
    resourceType: { kind: 'any', builtIn: false, keepsNull: false, atomic: false },
    secrecy: handmade.secrecy ?? 'none',
    reads: (handmade.reads ?? []).map(readPlanOf),
    children,
    tiers: Array.from({ length: last + 1 }, (_, tier) =>
      children.filter(({ id }) => tierOf(id) === tier),
    ),
    ...onDeleteOf(handmade),
    needsFinalizer:
      handmade.onDelete !== undefined || children.some(({ isDetached }) => isDetached),
    observed: handmade.children?.flatMap(({ observes }) => observes ?? []) ?? [],
    statusPathsRead: handmade.statusPathsRead ?? [],
    externalStatusPathsRead: [],
    startPhase: (input) => new HandmadePhase(handmade, input),
  };
}

function onDeleteOf(handmade: HandmadePlan): Pick<OperatorPlan, 'onDelete'> {
  if (handmade.onDelete === undefined) return {};
  const { children = [], order = 'Reverse', timeoutMs = 600_000 } = handmade.onDelete;
  const plans = children.map((child, index) => childPlanOf(child, index, handmade));
  const onTimeout = handmade.onDelete.onTimeout ?? 'Wait';
  return { onDelete: { children: plans, tiers: [plans], order, timeoutMs, onTimeout } };
}

function definitionOf({
  name = 'podset',
  revision = 'r1',
  status = {},
  scope = 'Namespaced',
}: HandmadePlan): OperatorDefinition {
  return {
    name,
    revision,
    kind: {
      source: 'crd',
      gvk: gvkOf('apps.example.com/v1', 'PodSet'),
      plural: 'podsets',
      scope,
      crd: { apiVersion: 'v1', kind: 'x', metadata: { name: 'x' } },
      schema: {},
      crdPolicy: { adopt: false, deletion: 'Retain', allowBreakingChanges: false },
    },
    vars: {},
    reads: [],
    children: [],
    status: Object.fromEntries(Object.keys(status).map((key) => [key, ''])),
    controller: {
      concurrency: 10,
      resyncMs: 36_000_000,
      retry: { initialMs: 5, maxMs: 1_000_000, permanentMs: 600_000 },
      rollout: { perSecond: 50, stopAfterFailures: 10, maxDeletions: 10 },
      limits: { steps: 1_000_000, memoryBytes: 67_108_864, cpuMs: 1_000 },
    },
    removalPolicy: 'Retain',
  };
}

function childPlanOf(child: HandmadeChild, index: number, plan: HandmadePlan): ChildPlan {
  const isKnown = child.apiVersion === 'v1' || child.apiVersion === 'apps/v1';
  return {
    id: child.id,
    gvk: gvkOf(child.apiVersion, child.kind),
    isList: child.forEach !== undefined,
    template: {},
    hasReady: child.ready !== undefined,
    ...(child.gate && { hasGate: true }),
    after: child.after ?? [],
    ...(child.afterSame && { afterSame: child.afterSame }),
    childrenRead: [],
    readsUsed: child.readsUsed ?? [],
    childrenObserved: child.observes ?? [],
    ordered: child.ordered ?? false,
    updateStrategy: child.updateStrategy ?? { type: 'Apply' },
    adopt: child.adopt ?? 'Never',
    adoptedPolicy: 'Orphan',
    conflicts: child.conflicts ?? 'Force',
    crossNamespace: child.crossNamespace ?? false,
    deletionPolicy: child.deletionPolicy ?? 'Delete',
    hasDeleteWhen: child.deleteWhen !== undefined,
    ...(child.prunesAfterReady === true && { prunesAfterReady: true }),
    ...(child.left && { left: child.left }),
    ...(child.cascade && { cascade: child.cascade }),
    isDetached: isDetached(child, plan),
    secrecy: child.secrecy ?? secrecyOf(child, plan),
    type: isKnown ? builtInType(child.apiVersion, child.kind) : undefined,
    pathsRead: child.pathsRead ?? [],
    pathsReadByOthers: [],
    pathsObserved: [[]],
    line: index + 1,
    place: undefined,
  };
}

function secrecyOf({ kind, readsUsed = [] }: HandmadeChild, { reads = [] }: HandmadePlan): Secrecy {
  const kinds = [
    kind,
    ...reads.filter(({ id }) => readsUsed.includes(id)).map((read) => read.kind),
  ];
  return kinds.includes('Secret') ? 'content' : 'none';
}

function isDetached(child: HandmadeChild, { onDelete, scope }: HandmadePlan): boolean {
  const { crossNamespace = false, deletionPolicy, deleteWhen, ordered, forEach } = child;
  return (
    onDelete !== undefined ||
    (crossNamespace !== false && scope !== 'Cluster') ||
    deletionPolicy === 'Orphan' ||
    child.cascade !== undefined ||
    deleteWhen !== undefined ||
    (ordered === true && forEach !== undefined)
  );
}

function readPlanOf(read: HandmadeRead): ReadPlan {
  return {
    id: read.id,
    gvk: gvkOf(read.apiVersion, read.kind),
    by: read.names !== undefined ? 'names' : read.name === undefined ? 'selector' : 'name',
    optional: read.optional ?? false,
    ...(read.literalNames !== undefined && { literalNames: read.literalNames }),
    ...(read.namespaces !== undefined && { namespaces: read.namespaces }),
    ...(read.indexKey !== undefined && { indexKey: read.indexKey }),
    ...(read.watchSelector !== undefined && { watchSelector: read.watchSelector }),
    pathsRead: read.pathsRead ?? [[]],
    reach: 'own',
    selectsNamespaces: false,
    secrecy: read.secrecy ?? (read.kind === 'Secret' ? 'content' : 'none'),
  };
}

class HandmadePhase implements Phase {
  readonly #plan: HandmadePlan;
  readonly #input: PhaseInput;
  readonly #children: Map<string, ExpressionInput>;
  readonly #reads: Map<string, ExpressionInput>;
  readonly #observed: Map<string, ExpressionInput>;

  constructor(plan: HandmadePlan, input: PhaseInput) {
    this.#plan = plan;
    this.#input = input;
    this.#children = new Map(input.children);
    this.#reads = new Map(input.reads);
    this.#observed = new Map(input.observed);
  }

  setChild(id: string, seen: ExpressionInput): void {
    this.#children.set(id, seen);
  }

  setRead(id: string, seen: ExpressionInput): void {
    this.#reads.set(id, seen);
  }

  setObserved(id: string, seen: ExpressionInput): void {
    this.#observed.set(id, seen);
  }

  async readRequest(id: string): Promise<Rendered<ReadRequest>> {
    const read = this.#plan.reads?.find((each) => each.id === id);
    if (read?.name !== undefined) {
      const name = render(() => read.name?.(this.#view()));
      return name.kind === 'value'
        ? { kind: 'value', value: { by: 'name', name: name.value } }
        : name;
    }
    if (read?.names !== undefined) {
      const names = render(() => read.names?.(this.#view()) ?? []);
      return names.kind === 'value'
        ? { kind: 'value', value: { by: 'names', names: names.value } }
        : names;
    }
    const labels = render(() => read?.labels?.(this.#view()));
    if (labels.kind !== 'value') return labels;
    const selector: LabelSelector = { matchLabels: labels.value, matchExpressions: [] };
    return { kind: 'value', value: { by: 'selector', selector, scope: { kind: 'own' } } };
  }

  async when(id: string): Promise<Rendered<boolean>> {
    const { when } = this.#child(id);
    return when === undefined ? { kind: 'value', value: true } : render(() => when(this.#view()));
  }

  async elements(id: string): Promise<Rendered<readonly Element[]>> {
    const { forEach } = this.#child(id);
    const items = render(() => (forEach === undefined ? [undefined] : forEach(this.#view())));
    if (items.kind !== 'value') return items;
    return { kind: 'value', value: items.value.map((item, index) => ({ item, index })) };
  }

  async cluster(): Promise<Rendered<string>> {
    return { kind: 'missing' };
  }

  async kind(): ReturnType<Phase['kind']> {
    return { kind: 'missing' };
  }

  async deletionTime(): ReturnType<Phase['deletionTime']> {
    return { kind: 'missing' };
  }

  async manifest(id: string, element: Element): Promise<Rendered<KubeObject>> {
    const { apiVersion, kind, template } = this.#child(id);
    return render(() => ({ apiVersion, kind, ...template(this.#view(), element) }) as KubeObject);
  }

  async name(id: string): Promise<Rendered<string>> {
    const { name } = this.#child(id);
    return name === undefined ? { kind: 'missing' } : { kind: 'value', value: name };
  }

  async ready(id: string, child: KubeObject): Promise<Rendered<boolean>> {
    return render(() => this.#child(id).ready?.(child));
  }

  async gate(id: string, element: Element): Promise<Rendered<boolean>> {
    return render(() => this.#child(id).gate?.(this.#view(), element));
  }

  async deleteWhen(id: string, child: KubeObject): Promise<Rendered<boolean>> {
    return render(() => this.#child(id).deleteWhen?.(child));
  }

  async status() {
    const fields: Record<string, unknown> = {};
    const failures: RenderFailure[] = [];
    for (const [key, expression] of Object.entries(this.#plan.status ?? {})) {
      const result = render(() => expression(this.#view()));
      if (result.kind === 'value') fields[key] = result.value;
      if (result.kind === 'failed') failures.push({ ...result.failure, field: `status.${key}` });
    }
    return { fields, failures };
  }

  #child(id: string): HandmadeChild {
    const { children = [], onDelete } = this.#plan;
    const all = [...children, ...(onDelete?.children ?? [])];
    const child = all.find((each) => each.id === id);
    if (child === undefined) throw new Error(`No child "${id}"`);
    return child;
  }

  #view(): View {
    const child = (id: string) => this.#seen(this.#children.get(id), `children.${id}`);
    const read = (id: string) => this.#seen(this.#reads.get(id), `reads.${id}`);
    const observed = (id: string) => this.#seen(this.#observed.get(id), `observed.${id}`);
    return {
      resource: this.#input.resource as View['resource'],
      child: (id) => one(child(id)),
      children: (id) => many(child(id)),
      read: (id) => one(read(id)),
      list: (id) => many(read(id)),
      observed: (id) => one(observed(id)),
      allObserved: (id) => many(observed(id)),
    };
  }

  #seen(
    seen: ExpressionInput | undefined,
    name: string,
  ): Extract<ExpressionInput, { state: 'present' }>['value'] | undefined {
    if (seen?.state === 'present') return seen.value;
    if (this.#input.phase === 'reporting' || seen?.state === 'absent') return undefined;
    throw new Waiting(seen?.state === 'waiting' ? seen.on : name);
  }
}

function one(value: KubeObject | readonly KubeObject[] | undefined): KubeObject | undefined {
  return Array.isArray(value) ? undefined : (value as KubeObject | undefined);
}

function many(value: KubeObject | readonly KubeObject[] | undefined): readonly KubeObject[] {
  return Array.isArray(value) ? value : [];
}

function render<Value>(expression: () => Value | undefined): Rendered<Value> {
  try {
    const value = expression();
    return value === undefined ? { kind: 'missing' } : { kind: 'value', value };
  } catch (error) {
    if (error instanceof Waiting) return { kind: 'waiting', on: [error.on] };
    if (!(error instanceof Failing)) throw error;
    const failure: RenderFailure = {
      code: 'evaluation-failed',
      message: error.message,
      field: 'spec',
    };
    return { kind: 'failed', failure };
  }
}
