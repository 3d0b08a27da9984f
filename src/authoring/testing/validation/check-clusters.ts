import {
  arrangeDiagnostics,
  childKindsOf,
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  locate,
  type OperatorTest,
  testHub,
  testParts,
} from '#definition';
import { isCluster, runsIn } from '#simulation';
import { didYouMean } from '#util/did-you-mean.ts';
import { apiVersionOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

interface ClustersOptions {
  /** All definitions of the test. */
  readonly definitions: readonly LocatedDefinition[];
  /** Objects of the files that the test applies. */
  readonly applied: readonly { readonly apiVersion?: unknown; readonly kind?: unknown }[];
}

/** Checks the names of clusters in a test, and whether its definitions run in one of them. */
export function checkClusters(test: OperatorTest, options: ClustersOptions): readonly Diagnostic[] {
  const { created, clusters } = testParts(test);
  const members = [
    ...created.map(({ value }) => value),
    ...(options.applied as readonly JsonObject[]),
  ].filter(isCluster);
  const findings = [
    ...(createsClusters(options.definitions) ? [] : unknownNames(clusters, members)),
    ...created.flatMap(({ value, path }) => misplaced(test, value, path)),
    ...notSelected(options.definitions, members),
  ];
  return arrangeDiagnostics(findings.map((finding) => locate(finding, test.source)));
}

/** Definitions that create `Cluster` objects decide their names. */
function createsClusters(definitions: readonly LocatedDefinition[]): boolean {
  return definitions.some(({ definition }) =>
    childKindsOf(definition).some((gvk) =>
      isCluster({ apiVersion: apiVersionOf(gvk), kind: gvk.kind }),
    ),
  );
}

function unknownNames(
  clusters: ReturnType<typeof testParts>['clusters'],
  members: readonly JsonObject[],
): readonly Finding[] {
  const known = [testHub, ...members.map(nameOf)];
  return clusters.flatMap(({ value, path }): readonly Finding[] => {
    if (known.includes(value)) return [];
    const message = `There is no member cluster "${value}"`;
    const hint =
      didYouMean(value, known) ??
      'Each member cluster is an object of kind "Cluster" in "given" or "apply"';
    return [{ code: 'unknown-name', path, message, hint }];
  });
}

function nameOf({ metadata }: JsonObject): string {
  return String(isJsonObject(metadata) ? metadata.name : '');
}

/** A `Cluster` that is written into a member has no effect. */
function misplaced(
  { document }: OperatorTest,
  value: JsonObject,
  path: string,
): readonly Finding[] {
  if (!isCluster(value)) return [];
  const cluster = clusterAt(document, path);
  if (cluster === undefined || cluster === testHub) return [];
  const message = 'An object of kind "Cluster" belongs to the hub';
  const hint = `Write "cluster: ${testHub}" beside it, or put it into a step without "cluster"`;
  return [{ code: 'invalid-value', path, message, hint }];
}

/** The cluster that is written for an object: beside it, or in its step. */
function clusterAt(document: JsonObject, path: string): unknown {
  const steps = path.split('/').slice(1);
  let found: unknown;
  let node: unknown = document;
  for (const step of steps) {
    node = (node as Record<string, unknown>)[step];
    if (isJsonObject(node) && node.cluster !== undefined) found = node.cluster;
  }
  return found;
}

/** A definition that runs in members does nothing without one. */
function notSelected(
  definitions: readonly LocatedDefinition[],
  members: readonly JsonObject[],
): readonly Finding[] {
  if (createsClusters(definitions)) return [];
  return definitions.flatMap(({ definition: { name, controller } }): readonly Finding[] => {
    if (controller.clusters === undefined) return [];
    if (members.some((member) => runsIn({ controller }, member as unknown as KubeObject)))
      return [];
    const message = `Definition "${name}" runs in member clusters, and selects none of this test`;
    const hint =
      'Add an object of kind "Cluster" with labels that "controller.clusters" selects to "given", and write its name as "cluster" of the steps';
    return [{ code: 'invalid-value', path: '/spec', at: 'key', message, hint }];
  });
}
