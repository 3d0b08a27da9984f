import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import type { LocatedDefinition, LocatedObject } from '#definition';
import { maxSnapshotMebibytes } from '#dev';
import { fileReason, readRegularFile } from '#files';
import { type DefinitionPlan, planDefinition } from '#plan';
import { createRuleEvaluator } from '#sandbox';
import { Simulation } from '#simulation';
import { silentLogger, silentMetrics } from '#telemetry';
import { checkObjects, ObjectCheck } from '#testing';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { CliError, exitCode, printCliError } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { requireKind, withNamespace } from './apply.ts';
import { guardedNamespacesOf } from './cluster-flags.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { loadKinds } from './kinds.ts';
import { planMembers } from './plan-members.ts';
import { markdownOf, planLines, summaryOf } from './print-plan.ts';
import { readLocatedFiles } from './read-files.ts';

export interface PlanFlags {
  readonly output: 'text' | 'json' | 'markdown';
  /** Files with resources. */
  readonly filename?: readonly string[];
  /** A saved cluster. */
  readonly against?: string;
  /** Where the keys of versions are. @default looked for */
  readonly runtimeNamespace?: string;
}

/** Exit code: the plan has changes. */
const hasChanges = 2;

/**
 * `homeostat plan PATH...`: prints what definitions would change in a cluster. Writes nothing.
 * @returns the exit code: 0 without changes, 2 with changes, 1 for every error, also of one child, so that 2 is never an error.
 */
export async function plan(
  context: SessionContext,
  paths: readonly string[],
  flags: PlanFlags,
): Promise<number> {
  try {
    return await printPlan(context, paths, flags);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    printCliError(error, context.output);
    return exitCode.failure;
  }
}

async function printPlan(
  context: SessionContext,
  paths: readonly string[],
  flags: PlanFlags,
): Promise<number> {
  const { output } = context;
  if (context.flags.namespace !== undefined && flags.filename === undefined)
    throw new CliError('"--namespace" needs "-f": it is the namespace of resources in files', {
      hint: 'Without "-f" the resources of all namespaces are planned',
    });
  const texts = await loadManifests(paths);
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas() });
  printDiagnostics(diagnostics, texts, output);
  if (diagnostics.some(({ severity }) => severity === 'error')) return exitCode.failure;
  if (accepted.length === 0) throw new CliError(`There is no definition in ${paths.join(', ')}`);
  const definitions = accepted.map(({ located }) => located);
  const given = flags.filename && (await readLocatedFiles(flags.filename, context.output));
  const wanted = {
    definitions,
    texts: given?.manifests ?? [],
    ...(given && { resources: given.objects }),
    runtimeNamespace: flags.runtimeNamespace,
  };
  const plans =
    flags.against === undefined
      ? await withCluster(context, (session) => planAll(session, wanted, createSystemClock()))
      : await planSaved(flags.against, wanted, context);
  if (plans === undefined) return exitCode.failure;
  for (const { rejection } of plans)
    if (rejection !== undefined) printDiagnostics(rejection.diagnostics, texts, output);
  const text = textOf(plans, flags.output, output.hasColor);
  output.print(text, flags.output === undefined ? 'colored' : 'plain');
  if (plans.some(({ rejection }) => rejection !== undefined)) return exitCode.failure;
  const { changes, failed } = summaryOf(plans);
  if (failed > 0) return exitCode.failure;
  return changes === 0 ? exitCode.ok : hasChanges;
}

interface Wanted {
  readonly definitions: readonly LocatedDefinition[];
  readonly resources?: readonly LocatedObject[];
  /** The files of the resources. */
  readonly texts: readonly DefinitionManifest[];
  readonly runtimeNamespace: string | undefined;
}

/** Undefined: resources have mistakes, which are printed. */
async function planAll(
  session: ClusterSession,
  wanted: Wanted,
  clock: Clock,
): Promise<readonly DefinitionPlan[] | undefined> {
  const { cluster, output, signal } = session;
  const { definitions, runtimeNamespace } = wanted;
  const members = await planMembers(definitions, session);
  const { resources, added } = placed(session, wanted);
  // The cluster does not know their kinds, so a simulated server checks them and adds defaults.
  const check = added.length === 0 ? undefined : new ObjectCheck(definitions);
  try {
    const mistakes = check === undefined ? [] : checkObjects(added, check);
    printDiagnostics(mistakes, wanted.texts, output);
    if (mistakes.some(({ severity }) => severity === 'error')) return undefined;
    const options = {
      cluster,
      clock,
      runtimeNamespace,
      guardedNamespaces: guardedNamespacesOf(runtimeNamespace),
      ...(check && { admit: (resource: KubeObject) => check.admitted(resource) ?? resource }),
      ...(members && { members }),
      createRuleEvaluator,
      random: createSystemRandom(),
      logger: silentLogger,
      metrics: silentMetrics,
      ...(wanted.resources !== undefined && { resources }),
    };
    const plans: DefinitionPlan[] = [];
    for (const located of definitions) {
      const { name } = located.definition;
      output.progress?.(`Definition "${name}"`);
      const onProgress = (done: number, total: number) =>
        output.progress?.(`Definition "${name}": ${done} of ${total} resources`);
      plans.push(await planDefinition(located, { ...options, onProgress }, signal));
    }
    return plans;
  } finally {
    check?.close();
  }
}

interface PlacedResources {
  readonly resources: readonly KubeObject[];
  /** Those whose kind a definition of the plan adds to the cluster. */
  readonly added: readonly LocatedObject[];
}

/** The resources with the namespace of the command. @throws CliError for a kind that neither the cluster nor a definition has */
function placed(session: ClusterSession, { definitions, resources = [] }: Wanted): PlacedResources {
  const added: LocatedObject[] = [];
  const all = resources.map((located) => {
    const { object } = located;
    const key = gvkKey(gvkOf(object.apiVersion, object.kind));
    const own = definitions.find(({ definition: { kind } }) => gvkKey(kind.gvk) === key);
    const { kind, controller } = own?.definition ?? {};
    // A kind of members need not be served on the hub.
    if (controller?.clusters !== undefined)
      return withNamespace(session, { namespaced: true }, object);
    const isServed = session.kinds.of(object.apiVersion, object.kind) !== undefined;
    if (isServed || kind?.source !== 'crd')
      return withNamespace(session, requireKind(session, object), object);
    added.push(located);
    return withNamespace(session, { namespaced: kind.scope === 'Namespaced' }, object);
  });
  return { resources: all, added };
}

/** Plans on a cluster that was saved to a file. The file stays as it is. */
async function planSaved(
  file: string,
  wanted: Wanted,
  { flags, output, signal }: SessionContext,
): Promise<readonly DefinitionPlan[] | undefined> {
  const simulation = await openSnapshot(file);
  const cluster = simulation.connect();
  try {
    const kinds = await simulation.drive(loadKinds(cluster.api, signal));
    const { namespace = 'default' } = flags;
    const connectContext = () =>
      Promise.reject(new CliError('A saved cluster has no member clusters'));
    const { clock } = simulation;
    const session = { cluster, kinds, clock, connectContext, namespace, output, signal };
    return await simulation.drive(planAll(session, wanted, clock));
  } finally {
    await simulation.drive(cluster.close());
    await simulation.close();
  }
}

async function openSnapshot(file: string): Promise<Simulation> {
  const state = await readRegularFile(file, maxSnapshotMebibytes).catch((error: unknown) => {
    throw new CliError(`Cannot read "${file}": ${fileReason(error)}`, { cause: error });
  });
  try {
    return new Simulation({
      definitions: [],
      logger: silentLogger,
      state,
      simulatesControllers: false,
    });
  } catch (error) {
    const reason = messageOf(error);
    throw new CliError(`"${file}" is not a saved cluster: ${reason}`, {
      hint: 'Save one with "homeostat dev --persist FILE"',
      cause: error,
    });
  }
}

function textOf(
  plans: readonly DefinitionPlan[],
  format: PlanFlags['output'],
  hasColor: boolean,
): string {
  if (format === 'json') return JSON.stringify({ plans, summary: summaryOf(plans) }, undefined, 2);
  if (format === 'markdown') return markdownOf(plans);
  return planLines(plans, { hasColor }).join('\n');
}
