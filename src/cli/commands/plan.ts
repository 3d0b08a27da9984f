import { readFile } from 'node:fs/promises';
import { checkDefinitions } from '../../check/index.ts';
import { bundledSchemas } from '../../compile/index.ts';
import type { LocatedDefinition, OperatorDefinition } from '../../definition/index.ts';
import { type DefinitionPlan, planDefinition } from '../../plan/index.ts';
import { fileReason } from '../../runtime/index.ts';
import { Simulation } from '../../simulation/index.ts';
import { silentLogger, silentMetrics } from '../../telemetry/index.ts';
import { type Clock, createSystemClock } from '../../util/clock.ts';
import { gvkKey, gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { createSystemRandom } from '../../util/random.ts';
import { CliError, exitCode, printCliError } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { requireKind, withNamespace } from './apply.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { loadKinds } from './kinds.ts';
import { planMembers } from './plan-members.ts';
import { markdownOf, planLines, summaryOf } from './print-plan.ts';
import { readFiles } from './read-files.ts';

export interface PlanFlags {
  readonly output: 'text' | 'json' | 'markdown';
  /** Files with resources. */
  readonly filename?: readonly string[];
  /** A saved cluster. */
  readonly against?: string;
}

/** Exit code: the plan has changes. */
const hasChanges = 2;

/**
 * `homeostat plan PATH...`: prints what definitions would change in a cluster. Writes nothing.
 * @returns the exit code: 0 without changes, 2 with changes, 1 for every error, so that 2 is never an error.
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
  const texts = await loadManifests(paths);
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas() });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  printDiagnostics(errors, texts, output);
  if (errors.length > 0) return exitCode.failure;
  const definitions = accepted.map(({ located }) => located);
  const resources = flags.filename && (await readFiles(flags.filename));
  const wanted = { definitions, ...(resources !== undefined && { resources }) };
  const plans =
    flags.against === undefined
      ? await withCluster(context, (session) => planAll(session, wanted, createSystemClock()))
      : await planSaved(flags.against, wanted, context);
  for (const { rejection } of plans)
    if (rejection !== undefined) printDiagnostics(rejection.diagnostics, texts, output);
  output.print(textOf(plans, flags.output, output.hasColor));
  if (plans.some(({ rejection }) => rejection !== undefined)) return exitCode.failure;
  return summaryOf(plans).changes === 0 ? exitCode.ok : hasChanges;
}

interface Wanted {
  readonly definitions: readonly LocatedDefinition[];
  readonly resources?: readonly KubeObject[];
}

async function planAll(
  session: ClusterSession,
  { definitions, resources }: Wanted,
  clock: Clock,
): Promise<readonly DefinitionPlan[]> {
  const { cluster, output, signal } = session;
  const members = await planMembers(definitions, session);
  const options = {
    ...{ cluster, clock },
    ...(members && { members }),
    random: createSystemRandom(),
    logger: silentLogger,
    metrics: silentMetrics,
    ...(resources !== undefined && {
      resources: resources.map((each) => inNamespace(each, definitions, session)),
    }),
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
}

/** The resource in its namespace. A kind of members need not be served on the hub. @throws CliError for a kind that is not served */
function inNamespace(
  resource: KubeObject,
  definitions: readonly LocatedDefinition[],
  session: ClusterSession,
): KubeObject {
  const definition = servedBy(resource, definitions);
  if (definition?.controller.clusters === undefined) {
    const kind = requireKind(session, resource, newKindHint(definition));
    return withNamespace(session, kind, resource);
  }
  const { namespace = session.namespace, ...metadata } = resource.metadata;
  return { ...resource, metadata: { ...metadata, namespace } };
}

function servedBy(
  { apiVersion, kind }: KubeObject,
  definitions: readonly LocatedDefinition[],
): OperatorDefinition | undefined {
  const key = gvkKey(gvkOf(apiVersion, kind));
  return definitions.find(({ definition }) => gvkKey(definition.kind.gvk) === key)?.definition;
}

/** The hint for a resource whose kind comes with a definition that the cluster does not run yet. Undefined: another kind. */
function newKindHint(definition: OperatorDefinition | undefined): string | undefined {
  return (
    definition &&
    `Definition "${definition.name}" creates this kind: its resources can be planned after that. "homeostat render" prints their children`
  );
}

/** Plans on a cluster that was saved to a file. The file stays as it is. */
async function planSaved(
  file: string,
  wanted: Wanted,
  { flags, output, signal }: SessionContext,
): Promise<readonly DefinitionPlan[]> {
  const simulation = await openSnapshot(file);
  const cluster = simulation.connect();
  try {
    const kinds = await simulation.drive(loadKinds(cluster.api, signal));
    const { namespace = 'default' } = flags;
    const connectContext = () =>
      Promise.reject(new CliError('A saved cluster has no member clusters'));
    const session = { cluster, kinds, connectContext, namespace, output, signal };
    return await simulation.drive(planAll(session, wanted, simulation.clock));
  } finally {
    await simulation.drive(cluster.close());
    await simulation.close();
  }
}

async function openSnapshot(file: string): Promise<Simulation> {
  const state = await readFile(file, 'utf8').catch((error: unknown) => {
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
    const reason = error instanceof Error ? error.message : String(error);
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
