import {
  type CheckedDefinition,
  checkDefinitions,
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from '#check';
import { bundledSchemas, type ChildPlan } from '#compile';
import {
  arrangeDiagnostics,
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  locate,
  worksInMembers,
} from '#definition';
import { type ApiRequest, KubeError } from '#kube';
import { withoutOwnKeys } from '#plan';
import { childLabel, definitionLabel } from '#reconcile';
import type { Simulation } from '#simulation';
import { isCluster, UnknownReferenceError } from '#simulation';
import { ObjectCheck } from '#testing';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { notServed } from './not-served.ts';
import { isStalled, type RunResourceOptions, runResource } from './run-resource.ts';

export interface RenderOptions
  extends Pick<RunResourceOptions, 'resource' | 'given' | 'simulatesControllers'> {
  readonly definitions: readonly DefinitionManifest[];
  /** Checks definition files. @default a check with the schemas of the built-in kinds */
  readonly check?: ManifestCheck;
  /** The status that a controller outside of the simulation would write. Undefined: none. @default none for any object */
  readonly statusOf?: (child: KubeObject) => JsonObject | undefined;
}

/** One object that the definition creates for the resource. */
export interface RenderedChild {
  /** Id of the child in its definition. */
  readonly child: string;
  /** Position among the children of the definition, from 1. */
  readonly position: number;
  /** How many children the definition has. */
  readonly total: number;
  /** Ids of the children that it waits for. */
  readonly waitsFor: readonly string[];
  /** How readiness is decided: an expression, or the rules of the kind. */
  readonly readiness: string;
  /** Line of the child in the definition's file, from 1. */
  readonly line: number;
  readonly manifest: KubeObject;
  /** Name of the member cluster that it is in. @default undefined: it is on the hub */
  readonly cluster?: string;
}

export interface RenderResult {
  /** In the order in which they are created. Empty where the definitions have errors. */
  readonly children: readonly RenderedChild[];
  /** Children without an object, with the reason from the conditions of the resource. */
  readonly missing: readonly string[];
  /** Status of the resource. */
  readonly status: JsonObject | undefined;
  /** Why the resource is not ready, for people. @default undefined: it is ready */
  readonly problem?: string;
  /** The server rejects the resource or a given object, with `problem` as the reason. @default false */
  readonly isRejected?: boolean;
  /** Expressions and children that fail with this resource, at their places in the definition. */
  readonly failures: readonly Diagnostic[];
  /** The definition has objects in member clusters, and no `Cluster` was given. @default false */
  readonly lacksMembers?: boolean;
  /** Mistakes in the definitions. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Renders a resource: runs its definition on a simulated cluster and collects what it creates. */
export async function renderResource(options: RenderOptions): Promise<RenderResult> {
  const { definitions: manifests, resource } = options;
  const schemas = bundledSchemas();
  const { check = createManifestCheck(schemas) } = options;
  const { accepted, diagnostics } = checkDefinitions(manifests, { schemas, check });
  const nothing = { children: [], missing: [], failures: [], status: undefined, diagnostics };
  if (diagnostics.some(({ severity }) => severity === 'error')) return nothing;
  const served = accepted.find(({ plan }) => serves(plan.definition.kind.gvk, resource));
  if (served === undefined) {
    const definitions = accepted.map(({ plan }) => plan.definition);
    const problem = notServed(definitions, resource);
    return { ...nothing, problem, isRejected: true };
  }
  const rendered = await simulate(options, { served, accepted, manifests });
  return { ...rendered, diagnostics };
}

function serves(gvk: CheckedDefinition['plan']['definition']['kind']['gvk'], resource: KubeObject) {
  return gvkKey(gvk) === gvkKey(gvkOf(resource.apiVersion, resource.kind));
}

interface Definitions {
  /** The definition of the resource. */
  readonly served: CheckedDefinition;
  readonly accepted: readonly CheckedDefinition[];
  readonly manifests: readonly DefinitionManifest[];
}

async function simulate(
  { statusOf, ...options }: Omit<RenderOptions, 'definitions' | 'check'>,
  { served: { plan, located }, accepted, manifests }: Definitions,
): Promise<Omit<RenderResult, 'diagnostics'>> {
  const isOfOthers = plan.definition.kind.source === 'for';
  const { clusters } = plan.definition.controller;
  const isPlaced = clusters === undefined && worksInMembers(plan.definition);
  const applied = new Map<string, Applied>();
  // Children of other definitions, too, which serve kinds of children.
  const written = new Map<string, Applied>();
  const reported = new Set<string>();
  const failed: FailedValue[] = [];
  const run: RunResourceOptions = {
    ...options,
    manifests,
    definitions: accepted.map((each) => each.located),
    coverage: {
      declare: () => undefined,
      reach: () => undefined,
      fail: ({ message }, path) => void failed.push({ message, path }),
    },
    // What failed on the way may have been solved: a reconcile of a new process fails only with what is left.
    onRestart: () => {
      failed.length = 0;
    },
    onRequest: (request, cluster) => {
      const manifest = childOf(request);
      if (manifest === undefined) return undefined;
      const { path } = request;
      const key = `${cluster ?? ''} ${path}`;
      const child = { manifest, path, cluster };
      written.set(key, child);
      if (manifest.metadata.labels?.[definitionLabel] === plan.name) applied.set(key, child);
      return undefined;
    },
    ...(statusOf && {
      whenReady: (simulation) => reportStatuses(simulation, { written, reported, statusOf }),
    }),
  };
  try {
    return await runResource(run, plan.definition, async ({ found }) => {
      const children = [...applied.values()].map((child) => renderedChild(child, plan.children));
      const created = new Set(children.map(({ child }) => child));
      const ready = conditionsOf(found).find(({ type }) => type === 'Ready');
      return {
        children,
        missing: plan.children.map(({ id }) => id).filter((id) => !created.has(id)),
        status: isJsonObject(found?.status) ? found.status : undefined,
        failures: isStalled(found)
          ? failuresOf(found, { values: failed, children: applied.values(), accepted, located })
          : [],
        ...(isPlaced && !options.given.some(isCluster) && { lacksMembers: true }),
        // A kind of others has no such condition.
        ...(ready?.status !== 'True' && !isOfOthers && { problem: problemOf(ready) }),
      };
    });
  } catch (error) {
    if (!(error instanceof KubeError || error instanceof UnknownReferenceError)) throw error;
    const { message } = error;
    return {
      children: [],
      missing: [],
      failures: [],
      status: undefined,
      problem: message,
      isRejected: true,
    };
  }
}

/** A child as it was applied. */
interface Applied {
  readonly manifest: KubeObject;
  readonly path: string;
  /** Name of its member cluster. Undefined: it is on the hub. */
  readonly cluster: string | undefined;
}

interface StatusReport {
  /** By cluster and path. */
  readonly written: ReadonlyMap<string, Applied>;
  /** The keys of those that have their status. */
  readonly reported: Set<string>;
  readonly statusOf: (child: KubeObject) => JsonObject | undefined;
}

/** Writes the status of objects that do not have it. Returns whether there were any. */
async function reportStatuses(
  simulation: Simulation,
  { written, reported, statusOf }: StatusReport,
): Promise<boolean> {
  const before = reported.size;
  for (const [key, { manifest, path, cluster }] of written) {
    const status = reported.has(key) ? undefined : statusOf(manifest);
    if (status === undefined) continue;
    reported.add(key);
    const api = cluster === undefined ? simulation : simulation.members.get(cluster).api;
    await api.request({
      method: 'PATCH',
      path: `${path}/status`,
      query: { fieldManager: 'controller' },
      contentType: 'application/merge-patch+json',
      body: { status },
    });
  }
  return reported.size > before;
}

/** A value that cannot be rendered. `path`: JSON pointer in the definition. */
interface FailedValue {
  readonly path: string;
  readonly message: string;
}

interface Failing {
  readonly values: readonly FailedValue[];
  /** As they were applied. */
  readonly children: Iterable<Applied>;
  readonly accepted: readonly CheckedDefinition[];
  readonly located: LocatedDefinition;
}

/** The values that cannot be rendered, and the children that fail for another reason, such as fields that the server rejects. */
function failuresOf(
  found: JsonObject | undefined,
  { values, children: applied, accepted, located }: Failing,
): readonly Diagnostic[] {
  const { definition, source, pointers } = located;
  const status = isJsonObject(found?.status) ? found.status : {};
  const children = Array.isArray(status.children) ? status.children.filter(isJsonObject) : [];
  const manifests = Array.from(applied, ({ manifest }) => manifest);
  const check = new ObjectCheck(accepted.map((each) => each.located));
  const others = children
    .filter(({ state }) => state === 'Failed')
    .flatMap(({ id, message }): readonly Omit<Finding, 'code'>[] => {
      const index = definition.children.findIndex((child) => child.id === id);
      const path = pointers.children[index] ?? '';
      if (values.some((value) => value.path.startsWith(`${path}/`))) return [];
      const rejected = manifests
        .filter(({ metadata }) => metadata.labels?.[childLabel] === id)
        .flatMap((manifest) => check.check(manifest as unknown as JsonObject, 'whole'))
        .map((finding) => ({ ...finding, path: `${path}/template${finding.path}` }));
      return rejected.length > 0 ? rejected : [{ path, message: String(message) }];
    });
  check.close();
  return arrangeDiagnostics(
    [...values, ...others].map((each) => locate({ ...each, code: 'render-failed' }, source)),
  );
}

function problemOf(ready: JsonObject | undefined): string {
  if (ready === undefined) return 'The resource has no condition "Ready"';
  const { status, reason, message } = ready;
  const hint =
    reason === 'KindMissing'
      ? '; add the CustomResourceDefinitions of these kinds to the objects that exist before'
      : '';
  return `Ready is "${String(status)}", reason ${String(reason)}: ${String(message)}${hint}`;
}

/** The object that a request applies, where it is a child of a definition. */
function childOf({ method, path, body }: ApiRequest): KubeObject | undefined {
  if (method !== 'PATCH' || path.endsWith('/status') || !isJsonObject(body)) return undefined;
  const object = body as unknown as KubeObject;
  return object.metadata?.labels?.[childLabel] === undefined ? undefined : object;
}

function renderedChild({ manifest, cluster }: Applied, plans: readonly ChildPlan[]): RenderedChild {
  const id = manifest.metadata.labels?.[childLabel] ?? '';
  const index = plans.findIndex((each) => each.id === id);
  const plan = plans[index];
  return {
    child: id,
    position: index + 1,
    total: plans.length,
    waitsFor: plan === undefined ? [] : [...new Set([...plan.childrenRead, ...plan.after])],
    readiness:
      plan?.hasReady === true ? 'its expression "ready" is true' : `it is a ready ${manifest.kind}`,
    line: plan?.line ?? 1,
    manifest: asWritten(manifest),
    ...(cluster !== undefined && { cluster }),
  };
}

/** Without what the runtime adds to every child: labels, annotations, owner references. */
function asWritten({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const { name, namespace } = metadata;
  const maps = (['labels', 'annotations'] as const)
    .map((field) => [field, withoutOwnKeys(metadata[field])])
    .filter(([, map]) => map !== undefined);
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), ...Object.fromEntries(maps) },
    ...rest,
  };
}
