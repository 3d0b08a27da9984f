import type { OperatorPlan } from '#compile';
import {
  type CrdDefinition,
  definesCrd,
  type LocatedDefinition,
  mayBeIn,
  type OperatorDefinition,
  runsInMembers,
  selectsMember,
} from '#definition';
import type { KubeCluster, ResourceType } from '#kube';
import { createOperator, type DecisionRecord } from '#reconcile';
import { compileFor, definitionGvk, recordOf, servedKinds } from '#runtime';
import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { type GroupKind, gvkOf } from '#util/gvk.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { type CreateRuleEvaluator, type RuleCheck, ruleCheckOf } from './broken-rules.ts';
import { DryRunCluster, type DryRunWrite } from './dry-run-cluster.ts';
import { DryRunMembers, type PlanMember, type PlanMembers } from './dry-run-members.ts';
import type { DefinitionPlan, HeldDeletions, PlannedChange, ResourcePlan } from './plan.ts';
import { planCrd } from './plan-crd.ts';
import { planInstall } from './plan-install.ts';
import { userManager } from './planned-changes.ts';
import { inReadVersion } from './read-version.ts';
import { resourcePlan } from './resource-plan.ts';

export interface PlanOptions {
  readonly cluster: KubeCluster;
  /** The member clusters. @default undefined: there are none */
  readonly members?: PlanMembers;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** The namespace of the runtime, where the keys of `history` are. In member clusters they are in `kube-system`. @default looked for */
  readonly runtimeNamespace?: string | undefined;
  /** The namespaces that the runtime guards: definitions write nothing there, and resources there are not served. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Only these resources are planned, as if a user applied them; those of other kinds are ignored. @default all resources of the cluster, as they are */
  readonly resources?: readonly KubeObject[];
  /** A resource as a server would store it, for a kind that the cluster does not serve yet. @default such resources are not planned */
  readonly admit?: (resource: KubeObject) => KubeObject;
  /** Evaluates new rules of `admission` for stored objects. @default they are not evaluated */
  readonly createRuleEvaluator?: CreateRuleEvaluator;
  /** Called when a resource has been planned, with the numbers of planned and of all resources. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Computes what a definition would do: reconciles every resource once, with writes that the API server only validates (`dryRun=All`).
 * Children that depend on the status of a created child are unknown until it exists; they are reported as waiting.
 * @throws KubeError when a request fails
 */
export async function planDefinition(
  located: LocatedDefinition,
  options: PlanOptions,
  signal: AbortSignal,
): Promise<DefinitionPlan> {
  const rules = await newRulesOf(located, options, signal);
  const planned = await planResourcesOf(
    located,
    { ...options, ...(rules && { onResource: (resource) => rules.add(resource) }) },
    signal,
  );
  const broken = rules?.result;
  const plan = broken === undefined ? planned : { ...planned, brokenRules: broken };
  const install = await planInstall('install', located, options, signal);
  const admission = await planInstall('admission', located, options, signal);
  const own = [install, admission].filter((each) => each !== undefined);
  const [first] = own;
  if (first === undefined || plan.rejection !== undefined) return plan;
  const { heldDeletions: held = install && heldDeletions(located.definition, [install.resource]) } =
    plan;
  const resource = {
    ...first.resource,
    changes: own.flatMap((each) => each.resource.changes),
    unresolved: own.flatMap((each) => each.resource.unresolved),
  };
  return {
    ...plan,
    resources: [resource, ...plan.resources],
    problems: [...own.flatMap(({ problems }) => problems), ...plan.problems],
    ...(held && first.isNew && { heldDeletions: held }),
  };
}

async function newRulesOf(
  located: LocatedDefinition,
  { cluster, createRuleEvaluator: createEvaluator, resources }: PlanOptions,
  signal: AbortSignal,
): Promise<RuleCheck | undefined> {
  if (createEvaluator === undefined || resources !== undefined) return undefined;
  return ruleCheckOf(located, { cluster: new DryRunCluster(cluster), createEvaluator }, signal);
}

/** Follows the resources of the cluster, as they are. */
type FollowedOptions = PlanOptions & { readonly onResource?: (resource: KubeObject) => void };

async function planResourcesOf(
  located: LocatedDefinition,
  options: FollowedOptions,
  signal: AbortSignal,
): Promise<DefinitionPlan> {
  if (runsInMembers(located.definition)) return planInMembers(located, options, signal);
  const plan = await planInCluster(located, options, signal);
  const { children, reads } = located.definition;
  const unreached = options.members?.unreached ?? [];
  return withUnreached(
    plan,
    unreached.filter(({ name, labels }) =>
      [...children, ...reads].some((each) => mayBeIn(each, name, labels)),
    ),
  );
}

/** The resources of a definition that runs in members, in all members that it selects. */
async function planInMembers(
  located: LocatedDefinition,
  { members, runtimeNamespace: _, ...options }: PlanOptions,
  signal: AbortSignal,
): Promise<DefinitionPlan> {
  const { definition } = located;
  const isSelected = ({ labels }: Pick<PlanMember, 'labels'>) =>
    selectsMember(definition.controller.clusters?.selector, labels);
  const plans: DefinitionPlan[] = [];
  for (const { name, cluster, ...member } of members?.reached ?? []) {
    if (!isSelected(member)) continue;
    const plan = await planInCluster(located, { ...options, cluster }, signal);
    plans.push(inMember(plan, name));
  }
  const unreached = (members?.unreached ?? []).filter(isSelected);
  return withUnreached(combined(definition, plans), unreached);
}

function inMember({ crd, ...plan }: DefinitionPlan, cluster: string): DefinitionPlan {
  return {
    ...plan,
    ...(crd && { memberCrds: [{ ...crd, cluster }] }),
    resources: plan.resources.map((resource) => ({
      cluster,
      ...resource,
      changes: resource.changes.map((change) => ({ cluster, ...change })),
    })),
    problems: plan.problems.map((problem) => `Cluster "${cluster}": ${problem}`),
  };
}

/** The plans of one definition in several members as one. */
function combined(
  { name, revision, controller }: OperatorDefinition,
  plans: readonly DefinitionPlan[],
): DefinitionPlan {
  const rejected = plans.find(({ rejection }) => rejection !== undefined);
  const memberCrds = plans.flatMap((plan) => plan.memberCrds ?? []);
  const held = plans.flatMap(({ heldDeletions }) => heldDeletions ?? []);
  const { maxDeletions } = controller.rollout;
  const withData = held.reduce((sum, each) => sum + (each.withData ?? 0), 0);
  return {
    definition: name,
    revision,
    ...(rejected?.rejection && { rejection: rejected.rejection }),
    ...(memberCrds.length > 0 && { memberCrds }),
    ...(held.length > 0 && {
      heldDeletions: {
        count: Math.max(...held.map(({ count }) => count)),
        maxDeletions,
        ...(withData > 0 && { withData }),
      },
    }),
    resources: plans.flatMap(({ resources }) => resources),
    problems: plans.flatMap(({ problems }) => problems),
  };
}

/** Says which members the plan does not look at. */
function withUnreached(plan: DefinitionPlan, unreached: PlanMembers['unreached']): DefinitionPlan {
  const problems = unreached.map(
    ({ name, reason }) => `Member cluster "${name}" is not looked at: ${reason}`,
  );
  return { ...plan, problems: [...plan.problems, ...problems] };
}

async function planInCluster(
  located: LocatedDefinition,
  options: FollowedOptions,
  signal: AbortSignal,
): Promise<DefinitionPlan> {
  const { definition } = located;
  const about = { definition: definition.name, revision: definition.revision };
  const cluster = new DryRunCluster(options.cluster);
  const compiled = await compileFor(located, { cluster }, signal);
  if (compiled.kind === 'rejected') return rejectedPlan(about, compiled.rejection.message, []);
  const crd = definesCrd(definition)
    ? await planCrd({ ...options, definition, cluster, source: located.source }, signal)
    : {};
  if (crd.rejection !== undefined)
    return rejectedPlan(about, crd.rejection.message, crd.rejection.diagnostics);
  const changed = crd.change === undefined ? {} : { crd: crd.change };
  if ((await cluster.lookUp(definition.kind.gvk, signal)) === undefined) {
    const { admit, resources = [] } = options;
    if (admit === undefined || resources.length === 0 || !definesCrd(definition))
      return { ...about, ...changed, resources: [], problems: [] };
    cluster.serve({ type: typeOf(definition), admit });
  }
  cluster.takeWrites();
  const { applied, unread } = await applyResources(
    definition,
    { cluster, resources: options.resources },
    signal,
  );
  const record = await recordedDefinition(definition.name, cluster, signal);
  const { resources, problems } = await planResources(
    compiled.plan,
    { ...options, cluster, applied, recordedKinds: record?.kinds.children ?? [] },
    signal,
  );
  // Without a roll-out, deletions follow from edits of resources.
  const isRolledOut =
    record?.revisions[0]?.revision === definition.revision && record.rollout === undefined;
  const held = isRolledOut ? undefined : heldDeletions(definition, resources);
  return {
    ...about,
    ...changed,
    resources,
    problems: [...unread, ...problems],
    ...(held && { heldDeletions: held }),
  };
}

/** Undefined: the roll-out of the definition deletes all objects without approval. */
function heldDeletions(
  { controller }: OperatorDefinition,
  resources: readonly ResourcePlan[],
): HeldDeletions | undefined {
  const changes = resources.flatMap((resource) => resource.changes);
  const withData = changes.filter(({ losesData }) => losesData === true).length;
  const isCounted = ({ action, losesData }: PlannedChange) =>
    action === 'delete' || losesData === true;
  const count = changes.filter(isCounted).length;
  const { maxDeletions } = controller.rollout;
  if (withData === 0 && count <= maxDeletions) return undefined;
  return { count, maxDeletions, ...(withData > 0 && { withData }) };
}

function typeOf({ kind: { gvk, plural, scope } }: CrdDefinition): ResourceType {
  return { gvk, plural, namespaced: scope === 'Namespaced', hasStatus: true, verbs: [] };
}

interface AppliedResources {
  /** The writes by key. */
  readonly applied: ReadonlyMap<string, readonly DryRunWrite[]>;
  /** Why resources are not part of the plan. */
  readonly unread: readonly string[];
}

/** Applies the given resources of the definition's kind, as a dry run. They are read in the version of the definition. */
async function applyResources(
  definition: OperatorDefinition,
  {
    cluster,
    resources = [],
  }: { readonly cluster: DryRunCluster; readonly resources: readonly KubeObject[] | undefined },
  signal: AbortSignal,
): Promise<AppliedResources> {
  const applied = new Map<string, readonly DryRunWrite[]>();
  const unread: string[] = [];
  const { gvk } = definition.kind;
  const flow = { name: definition.name, priority: 'object' } as const;
  const options = { fieldManager: userManager, force: true, flow };
  const asRead = (object: KubeObject) => {
    const { resource, problem } = inReadVersion(definition, object);
    if (problem !== undefined) unread.push(problem);
    return resource;
  };
  for (const manifest of resources) {
    const of = gvkOf(manifest.apiVersion, manifest.kind);
    if (of.group !== gvk.group || of.kind !== gvk.kind) continue;
    // A version that is not served yet cannot be asked.
    const isServed = (await cluster.lookUp(of, signal)) !== undefined;
    const sent = isServed ? manifest : asRead(manifest);
    if (sent === undefined) continue;
    await cluster.overlay(sent, options, asRead, signal);
    applied.set(keyOf(manifest.metadata.namespace, manifest.metadata.name), cluster.takeWrites());
  }
  return { applied, unread };
}

function rejectedPlan(
  about: Pick<DefinitionPlan, 'definition' | 'revision'>,
  message: string,
  diagnostics: NonNullable<DefinitionPlan['rejection']>['diagnostics'],
): DefinitionPlan {
  return { ...about, rejection: { message, diagnostics }, resources: [], problems: [] };
}

type ResourcesOptions = Omit<FollowedOptions, 'cluster'> & {
  readonly cluster: DryRunCluster;
  /** Writes of the resources that a user would apply, by key. */
  readonly applied: ReadonlyMap<string, readonly DryRunWrite[]>;
  /** Kinds of which earlier revisions have children: those that are no longer desired would be deleted. */
  readonly recordedKinds: readonly GroupKind[];
};

async function planResources(
  plan: OperatorPlan,
  options: ResourcesOptions,
  signal: AbortSignal,
): Promise<Pick<DefinitionPlan, 'resources' | 'problems'>> {
  const { cluster, applied, recordedKinds, onProgress = () => undefined, onResource } = options;
  const decisions = new Map<string, DecisionRecord>();
  const { members: reachable, runtimeNamespace, ...shared } = options;
  const members = reachable && new DryRunMembers(reachable);
  const operator = createOperator({
    ...shared,
    ...(runtimeNamespace !== undefined && { namespace: runtimeNamespace }),
    ...(members && { members }),
    plan,
    previousKinds: await servedKinds(recordedKinds, cluster, signal),
    timeSlicer: unlimitedTimeSlicer,
    enqueue: () => undefined,
    recordsHistory: false,
    onDecisions: (key, record) => decisions.set(key, record),
  });
  await operator.start(signal);
  try {
    const all = [...operator.keys()].sort();
    for (const key of onResource === undefined ? [] : all) {
      const resource = operator.resource(key);
      if (resource !== undefined) onResource?.(resource);
    }
    const keys = options.resources === undefined ? all : all.filter((key) => applied.has(key));
    const resources: ResourcePlan[] = [];
    for (const key of keys) {
      const outcome = await operator.reconcile(key, { signal, yieldWorker: async () => 'current' });
      if (outcome.kind === 'error') throw outcome.error;
      const writes = [
        ...(applied.get(key) ?? []),
        ...cluster.takeWrites(),
        ...(members?.takeWrites() ?? []),
      ];
      const resource = operator.resource(key);
      if (resource !== undefined)
        resources.push(resourcePlan({ plan, resource, writes, record: decisions.get(key) }));
      onProgress(resources.length, keys.length);
    }
    const problems = operator.problems().map(({ what, message }) => `${what}: ${message}`);
    return { resources, problems };
  } finally {
    operator.stop();
  }
}

/** What the cluster records of the definition. Undefined: it does not have it. */
async function recordedDefinition(name: string, cluster: DryRunCluster, signal: AbortSignal) {
  if ((await cluster.lookUp(definitionGvk, signal)) === undefined) return undefined;
  const flow = { name, priority: 'object' } as const;
  const object = await cluster.get({ gvk: definitionGvk, name }, { flow }, signal);
  return object && recordOf(object.object);
}
