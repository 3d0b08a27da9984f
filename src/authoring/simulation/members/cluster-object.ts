import {
  type ClusterSelector,
  type OperatorDefinition,
  printYaml,
  selectsMember,
  testHub,
} from '#definition';
import { clusterGvk, createClusterCrd } from '#runtime';
import { apiVersionOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Namespace of the runtime in simulations, and of the Secrets of members. */
export const runtimeNamespace = 'homeostat-system';

interface MaybeObject {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

/** The kind `Cluster` with its schema. */
export const clusterKind = {
  gvk: clusterGvk,
  schema(): JsonObject {
    const { spec } = createClusterCrd();
    const [version] = (spec as { readonly versions: readonly ClusterVersion[] }).versions;
    return version?.schema.openAPIV3Schema ?? {};
  },
};

interface ClusterVersion {
  readonly schema: { readonly openAPIV3Schema: JsonObject };
}

/** Whether an object stands for a member cluster. */
export function isCluster({ apiVersion, kind }: MaybeObject): boolean {
  return apiVersion === apiVersionOf(clusterGvk) && kind === clusterGvk.kind;
}

/**
 * The objects to apply for a `Cluster`: without `spec.kubeconfig` it gets a Secret with one, which leads to nothing, as the simulation
 * connects by name. Pure.
 */
export function completeCluster(object: KubeObject): readonly KubeObject[] {
  const { name } = object.metadata;
  const spec = isJsonObject(object.spec) ? object.spec : {};
  if (spec.kubeconfig !== undefined) return [object];
  const namespace = runtimeNamespace;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      stringData: { kubeconfig: kubeconfigOf(name) },
    },
    { ...object, spec: { ...spec, kubeconfig: { secretRef: { namespace, name } } } },
  ];
}

function kubeconfigOf(name: string): string {
  return printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: `https://${name}.example.com` } }],
    users: [{ name, user: { token: 'simulated' } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

/** Does a definition run in the member that a `Cluster` stands for? */
export function runsIn(
  { controller }: Pick<OperatorDefinition, 'controller'>,
  { metadata }: Pick<KubeObject, 'metadata'>,
): boolean {
  return selectsMember(controller.clusters?.selector, metadata?.labels);
}

/**
 * The `Cluster` in which resources of a definition are tried: the first given one that it selects, else a new one with the labels that its
 * selector requires. Undefined: they are on the hub. Pure.
 */
export function memberFor(
  { controller }: Pick<OperatorDefinition, 'controller'>,
  given: readonly KubeObject[],
): KubeObject | undefined {
  const selector = controller.clusters?.selector;
  if (selector === undefined) return undefined;
  const selected = given.find((object) => isCluster(object) && runsIn({ controller }, object));
  if (selected !== undefined) return selected;
  return clusterObject('member', labelsFor([selector]));
}

/**
 * The objects that exist before random resources of a definition, and the cluster of these: with members that its selectors select where
 * none is given. Pure.
 */
export function withMembers(
  definition: OperatorDefinition,
  given: readonly KubeObject[],
): { readonly given: readonly KubeObject[]; readonly place: string } {
  const member = memberFor(definition, given);
  if (member !== undefined) {
    const others = given.includes(member) ? [] : [member];
    return { given: [...others, ...given], place: member.metadata.name };
  }
  const parts = [...definition.children, ...definition.reads];
  const placements = parts.flatMap(({ placement }) => placement ?? []);
  if (placements.length === 0 || given.some(isCluster)) return { given, place: testHub };
  const labels = labelsFor(placements.flatMap(({ allowed }) => allowed ?? []));
  const literal = placements.flatMap(({ cluster, allowed }) =>
    allowed === undefined ? String(cluster) : [],
  );
  const names = new Set(['member-1', 'member-2', ...literal]);
  const members = Array.from(names, (name) => clusterObject(name, labels));
  return { given: [...members, ...given], place: testHub };
}

/** Labels that these selectors select. */
function labelsFor(selectors: readonly ClusterSelector[]): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const selector of selectors) {
    if (selector === 'all') continue;
    Object.assign(labels, selector.matchLabels);
    for (const { key, operator, values } of selector.matchExpressions)
      if (operator === 'In' || operator === 'Exists') labels[key] = values[0] ?? 'true';
  }
  return labels;
}

function clusterObject(name: string, labels: Readonly<Record<string, string>>): KubeObject {
  const { kind } = clusterGvk;
  return { apiVersion: apiVersionOf(clusterGvk), kind, metadata: { name, labels } };
}
